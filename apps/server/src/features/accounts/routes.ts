import type { App } from '../../http/app-type.ts';
import { settingRoutes } from '../system/settings/routes.ts';
import { urlRoutes } from '../system/url-check/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { authRoutes } from './auth/routes.ts';
import { totpRoutes } from './auth/totp/routes.ts';
import type { Accounts } from './index.ts';
import { inviteRoutes } from './invites/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { userRoutes } from './users/routes.ts';

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
