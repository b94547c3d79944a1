import type { SettingKey } from '@sallyport/contract';
import { createTokens } from '@sallyport/store/accounts/tokens/service';
import { tokenStore } from '@sallyport/store/accounts/tokens/store';
import { createUsers } from '@sallyport/store/accounts/users/service';
import { userStore } from '@sallyport/store/accounts/users/store';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import type { Database, Executor } from '@sallyport/store/database/open';
import { createPasswordHasher } from '@sallyport/store/secrets/password-hasher';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { sendMail } from '../../net/mail.ts';
import type { SafeFetch } from '../../net/safe-fetch.ts';
import { createMailer } from '../system/settings/mailer.ts';
import { createSettings } from '../system/settings/service.ts';
import { settingStore } from '../system/settings/store.ts';
import { createUrlTest } from '../system/url-check/service.ts';
import { createIdentities } from './auth/identities.ts';
import { createAuth } from './auth/service.ts';
import { createSessionTokens } from './auth/session-token.ts';
import { createSessions } from './auth/sessions.ts';
import { createSetup } from './auth/setup.ts';
import { authStore } from './auth/store.ts';
import { createThrottle } from './auth/throttle.ts';
import { createSecondFactor } from './auth/totp/second-factor.ts';
import { createInvites } from './invites/service.ts';
import { inviteStore } from './invites/store.ts';

export interface AccountDeps {
  database: Database;
  vault: Vault;
  /** Undefined: sessions end with the process. */
  sessionSecret: string | undefined;
  /** URL of this server as seen on its own host. */
  localUrl: () => string;
  fetch: SafeFetch;
  clock: () => Date;
  log: Logger;
  /** Called for every change that is written down, in the transaction that makes it. */
  recorded?: RecordChange;
  /** Called after a setting was stored by this process. */
  settingChanged?: (key: SettingKey) => Promise<void>;
  /** Throws a `Refusal` for a change of a setting that this caller may not make. */
  checkSetting?: (tx: Executor, key: SettingKey, value: string, actor: Actor) => Promise<void>;
}

/** Wires who may do what, and the record of who did it: shared by the server and the command line. */
export const createAccounts = (deps: AccountDeps) => {
  const { database, vault, sessionSecret, localUrl, fetch, clock, log } = deps;
  const { recorded = async () => {}, settingChanged = async () => {}, checkSetting = async () => {} } = deps;
  const { kysely: db, transact, transactAside } = database;
  const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
  const { note } = audit;
  const record: RecordChange = async (tx, entry) => {
    await audit.record(tx, entry);
    await recorded(tx, entry);
  };
  const invalidate = () => identities.invalidate();
  const settings = createSettings({
    db,
    transact,
    store: settingStore,
    vault,
    record,
    check: checkSetting,
    async changed(key) {
      if (key === 'auth.require_totp') invalidate();
      await settingChanged(key);
    },
  });
  const isTotpRequired = () => settings.isOn('auth.require_totp');
  const tokenSigner = createSessionTokens(sessionSecret, clock);
  const identities = createIdentities({ db, store: authStore, tokens: tokenSigner, isTotpRequired, clock, log });
  const hasher = createPasswordHasher();
  const common = { db, transactAside, record, invalidate, clock };
  const sessions = createSessions({ ...common, store: authStore, tokens: tokenSigner });
  const throttle = createThrottle(clock);
  const auth = createAuth({ ...common, store: authStore, hasher, throttle, sessions, vault, note });
  const { beginAttempt, noteFailure, provePassword } = auth;
  const mailer = createMailer({ read: settings.read, send: sendMail, log });
  return {
    record,
    audit,
    auth,
    sessions,
    settings,
    identities,
    mailer,
    setup: createSetup({ ...common, store: authStore, hasher, sessions, beginAttempt, noteFailure }),
    secondFactor: createSecondFactor({
      ...common,
      store: authStore,
      vault,
      provePassword,
      beginAttempt,
      isRequired: isTotpRequired,
    }),
    users: createUsers({ ...common, store: userStore, hasher }),
    invites: createInvites({
      ...common,
      users: userStore,
      invites: inviteStore,
      hasher,
      sendMail: mailer.trySend,
      publicUrl: () => settings.read('app.public_url'),
      localUrl,
    }),
    tokens: createTokens({ ...common, store: tokenStore }),
    testUrl: createUrlTest({ fetch, now: () => performance.now() }),
  };
};
export type Accounts = ReturnType<typeof createAccounts>;
