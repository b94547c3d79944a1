import type { Login, Me, PasswordChange, SignedIn } from '@sallyport/contract';
import { requireSession } from '@sallyport/store/accounts/session-only';
import { toUser } from '@sallyport/store/accounts/users/to-user';
import type { Actor, ChangeEntry, RecordChange } from '@sallyport/store/actor';
import type { StoredUser } from '@sallyport/store/database/account-tables';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { parseEmail } from '@sallyport/store/names/email-address';
import type { PasswordHasher } from '@sallyport/store/secrets/password-hasher';
import { checkNewPassword } from '@sallyport/store/secrets/password-rules';
import type { Vault } from '@sallyport/store/secrets/vault';
import { createFailureNotes } from './failure-notes.ts';
import type { Sessions } from './sessions.ts';
import type { AuthStore } from './store.ts';
import type { OpenAttempt, Throttle } from './throttle.ts';
import { checkSecondFactor } from './totp/second-factor.ts';

export interface AuthDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => AuthStore;
  hasher: PasswordHasher;
  throttle: Throttle;
  sessions: Sessions;
  vault: Vault;
  record: RecordChange;
  /** Records an event that changes nothing else. */
  note: (entry: ChangeEntry) => Promise<void>;
  invalidate: () => void;
  clock: () => Date;
}

const wrongCredentials = () => refuse.unauthorized('Invalid email or password');

/** An address as it would be stored; anything else can't be an account, and is not written down: it may be a password. */
const accountOf = (email: string): { key: string; shown: string } => {
  try {
    const parsed = parseEmail(email);
    return { key: parsed, shown: parsed };
  } catch {
    return { key: '', shown: '(not an e-mail address)' };
  }
};

export const createAuth = (deps: AuthDeps) => {
  const { db, transactAside, store, hasher, throttle, sessions, vault, record, note, invalidate, clock } = deps;

  const noteFailure = createFailureNotes({ note, clock });

  const beginAttempt = (account: string, actor: Actor) =>
    throttle.begin({ account, ip: actor.ip, isLocal: actor.isLocal }, () =>
      noteFailure({ action: 'auth.throttled', actor, resource: 'auth/login', after: { email: account } }),
    );

  /** For a secret that belongs to no account; attempts from elsewhere must not keep its holder out. */
  const beginSecretAttempt = (resource: string, actor: Actor) =>
    throttle.begin({ account: `${resource} ${actor.ip}`, ip: actor.ip, isLocal: actor.isLocal }, () =>
      noteFailure({ action: 'auth.throttled', actor, resource }),
    );

  const tryPassword = async (
    find: () => Promise<StoredUser | undefined>,
    password: string,
    attempt: OpenAttempt,
    actor: Actor,
  ): Promise<{ user: StoredUser | undefined; isRight: boolean }> => {
    let user: StoredUser | undefined;
    const findHash = async () => {
      user = await find();
      return user?.password_hash ?? null;
    };
    try {
      const isRight = await hasher.verify(findHash, password, actor.isLocal);
      return { user, isRight };
    } catch (error) {
      // Not tried, so not failed.
      attempt.withdraw();
      throw error;
    }
  };

  /** Throws a 403 unless `password` is the caller's own; wrong ones count like failed sign-ins. */
  const provePassword = async (password: string, actor: Actor): Promise<StoredUser> => {
    const { id, email } = requireSession(actor);
    const attempt = await beginAttempt(email, actor);
    const { user, isRight } = await tryPassword(() => store(db).find(id), password, attempt, actor);
    if (!user || !isRight) {
      await noteFailure({ action: 'auth.password_refused', actor, resource: `users/${id}` });
      throw refuse.forbidden('The password is wrong');
    }
    attempt.succeeded();
    return user;
  };

  return {
    beginAttempt,
    beginSecretAttempt,
    noteFailure,
    provePassword,

    /**
     * Signs a user in. Throws one and the same 401 for an unknown address, a wrong password and a user who may not
     * sign in, after the same work; a 401 with details `totp_required` when only the second factor is missing; a 429.
     */
    async login(input: Login, actor: Actor): Promise<SignedIn> {
      const account = accountOf(input.email);
      const attempt = await beginAttempt(account.key, actor);
      const find = () => store(db).findByEmail(account.key);
      const { user, isRight } = await tryPassword(find, input.password, attempt, actor);
      const fail = async (reason: string) => {
        const after = { email: account.shown, reason };
        await noteFailure({ action: 'auth.login_failed', actor, resource: 'auth/login', after });
      };
      if (!user || !isRight || user.status !== 'active') {
        await fail(!user ? 'unknown user' : isRight ? `user is ${user.status}` : 'wrong password');
        throw wrongCredentials();
      }
      const outcome = await transactAside(async (tx) => {
        // Read again: hashing takes long enough for the account to change.
        const live = await store(tx).find(user.id);
        if (live?.status !== 'active' || live.password_hash !== user.password_hash) return 'wrong';
        const second = await checkSecondFactor(store(tx), vault, live, input, clock());
        return second === 'passed' ? sessions.open(tx, live, actor, 'auth.login') : second;
      });
      if (outcome === 'missing') {
        attempt.withdraw();
        // Somebody knows the password; if it is not the user, this is the only trace.
        await noteFailure({
          action: 'auth.totp_asked',
          actor,
          resource: 'auth/login',
          after: { email: account.shown },
        });
        throw refuse.unauthorized('Two-factor code required', { details: 'totp_required' });
      }
      if (outcome === 'wrong') {
        await fail('wrong second factor');
        throw refuse.unauthorized('Invalid two-factor code', { details: 'totp_required' });
      }
      attempt.succeeded();
      return outcome;
    },

    /** The caller's own account. Throws a 401 when nobody is signed in. */
    async me({ identity }: Actor): Promise<Me> {
      const user = identity.kind === 'user' ? await store(db).find(identity.id) : undefined;
      if (identity.kind !== 'user' || !user) throw refuse.unauthorized('Authentication required');
      return { user: toUser(user), totp_required: identity.mustEnrolTotp };
    },

    /** Sets a new password and ends every session of the user, this one included. */
    async changePassword({ current_password, new_password }: PasswordChange, actor: Actor): Promise<void> {
      const { email } = requireSession(actor);
      checkNewPassword(new_password, email, 'new_password');
      const user = await provePassword(current_password, actor);
      const password_hash = await hasher.hash(new_password, actor.isLocal);
      await transactAside(async (tx) => {
        const live = await store(tx).find(user.id);
        if (live?.password_hash !== user.password_hash) throw refuse.conflict('The password was changed meanwhile');
        await store(tx).updateUser(user.id, { password_hash, updated_at: clock().toISOString() });
        await store(tx).deleteSessions(user.id);
        await record(tx, { action: 'auth.password_changed', actor, resource: `users/${user.id}` });
      });
      invalidate();
    },
  };
};
export type Auth = ReturnType<typeof createAuth>;
