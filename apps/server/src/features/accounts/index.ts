import { createTokens } from '@sallyport/store/accounts/tokens/service';
import { tokenStore } from '@sallyport/store/accounts/tokens/store';
import { createUsers } from '@sallyport/store/accounts/users/service';
import { userStore } from '@sallyport/store/accounts/users/store';
import { createPasswordHasher } from '@sallyport/store/secrets/password-hasher';
import type { App } from '../../http/app-type.ts';
import type { Ground } from '../ground.ts';
import type { Mailer, Settings } from '../system/index.ts';
import { startRetention } from './audit/retention.ts';
import { auditRoutes } from './audit/routes.ts';
import { createIdentities } from './auth/identities.ts';
import { authRoutes, meRoute } from './auth/routes.ts';
import { createAuth } from './auth/service.ts';
import { createSessionTokens } from './auth/session-token.ts';
import { createSessions } from './auth/sessions.ts';
import { createSetup } from './auth/setup.ts';
import { authStore } from './auth/store.ts';
import { createThrottle } from './auth/throttle.ts';
import { totpRoutes } from './auth/totp/routes.ts';
import { createSecondFactor } from './auth/totp/second-factor.ts';
import { inviteRoutes } from './invites/routes.ts';
import { createInvites } from './invites/service.ts';
import { inviteStore } from './invites/store.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { userRoutes } from './users/routes.ts';

export type { OpenAttempt } from './auth/throttle.ts';

export interface AccountDeps {
  settings: Settings;
  mailer: Mailer;
  /** Undefined: sessions end with the process. */
  sessionSecret: string | undefined;
  /** URL of this server as seen on its own host. */
  localUrl: () => string;
}

/** Wires who may do what, and the record of who did it: sign-in, users, invitations, tokens, audit trail. */
export const createAccounts = (ground: Ground, { settings, mailer, sessionSecret, localUrl }: AccountDeps) => {
  const { database, vault, audit, record, clock, log } = ground;
  const { kysely: db, transactAside } = database;
  const isTotpRequired = () => settings.isOn('auth.require_totp');
  const tokenSigner = createSessionTokens(sessionSecret, clock);
  const identities = createIdentities({ db, store: authStore, tokens: tokenSigner, isTotpRequired, clock, log });
  const hasher = createPasswordHasher();
  const common = { db, transactAside, record, invalidate: () => identities.invalidate(), clock };
  const sessions = createSessions({ ...common, store: authStore, tokens: tokenSigner });
  const throttle = createThrottle(clock);
  const auth = createAuth({ ...common, store: authStore, hasher, throttle, sessions, vault, note: audit.note });
  const { beginAttempt, noteFailure, provePassword } = auth;
  const setup = createSetup({ ...common, store: authStore, hasher, sessions, beginAttempt, noteFailure });
  const isRequired = isTotpRequired;
  const secondFactor = createSecondFactor({
    ...common,
    store: authStore,
    vault,
    provePassword,
    beginAttempt,
    isRequired,
  });
  const users = createUsers({ ...common, store: userStore, hasher });
  const tokens = createTokens({ ...common, store: tokenStore });
  const invites = createInvites({
    ...common,
    users: userStore,
    invites: inviteStore,
    hasher,
    sendMail: mailer.trySend,
    publicUrl: () => settings.read('app.public_url'),
    localUrl,
  });

  return {
    /** Tells who a request comes from. */
    resolve: identities.resolve,
    /** Forgets what is known of credentials: the next request asks the store. */
    invalidate: identities.invalidate,
    announceSetup: setup.announce,
    beginSecretAttempt: auth.beginSecretAttempt,
    noteFailure,
    provePassword,

    /** Removes old audit entries from now on, until stopped. */
    startRetention: (): { stop(): Promise<void> } =>
      startRetention({
        audit,
        retentionDays: async () => Number(await settings.read('audit.retention_days')),
        log,
      }),

    async routes(app: App): Promise<void> {
      await authRoutes({ auth, sessions, setup })(app);
      await totpRoutes(secondFactor)(app);
      await userRoutes(users)(app);
      await inviteRoutes(invites)(app);
      await tokenRoutes(tokens)(app);
    },
    auditRoutes: auditRoutes(audit),
    /** The spec names this one outside the versioned root (Authentication 5). */
    meRoute: meRoute(auth),
  };
};
export type Accounts = ReturnType<typeof createAccounts>;
