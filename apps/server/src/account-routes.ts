import type { Accounts } from './accounts.ts';
import { auditRoutes } from './features/audit/routes.ts';
import { authRoutes } from './features/auth/routes.ts';
import { totpRoutes } from './features/auth/totp-routes.ts';
import { settingRoutes } from './features/settings/routes.ts';
import { urlRoutes } from './features/settings/url-routes.ts';
import { tokenRoutes } from './features/tokens/routes.ts';
import { inviteRoutes } from './features/users/invite-routes.ts';
import { userRoutes } from './features/users/routes.ts';
import type { App } from './http/app-type.ts';

/** Puts accounts, sign-in, settings and audit behind HTTP, below the API root. */
export const accountRoutes =
  (accounts: Accounts) =>
  async (app: App): Promise<void> => {
    await app.register(authRoutes(accounts));
    await app.register(totpRoutes(accounts.secondFactor));
    await app.register(userRoutes(accounts.users));
    await app.register(inviteRoutes(accounts.invites));
    await app.register(tokenRoutes(accounts.tokens));
    await app.register(settingRoutes(accounts));
    await app.register(urlRoutes(accounts.testUrl));
    await app.register(auditRoutes(accounts.audit));
  };
