import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Setup, SetupState, SignedIn } from '@sallyport/contract';
import { readEmail } from '@sallyport/store/accounts/users/read-email';
import { newUserRow, refuseDuplicate } from '@sallyport/store/accounts/users/service';
import type { Actor, ChangeEntry } from '@sallyport/store/actor';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { hashSecret } from '@sallyport/store/secrets/hash-secret';
import type { PasswordHasher } from '@sallyport/store/secrets/password-hasher';
import { checkNewPassword } from '@sallyport/store/secrets/password-rules';
import type { Sessions } from './sessions.ts';
import type { AuthStore } from './store.ts';

export interface SetupDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => AuthStore;
  hasher: Pick<PasswordHasher, 'hash'>;
  sessions: Pick<Sessions, 'open'>;
  beginAttempt: (account: string, actor: Actor) => Promise<{ succeeded(): void }>;
  /** Records a refusal. */
  noteFailure: (entry: ChangeEntry) => Promise<void>;
  invalidate: () => void;
  clock: () => Date;
}

const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(hashSecret(a)), Buffer.from(hashSecret(b)));

export const createSetup = (deps: SetupDeps) => {
  const { db, transactAside, store, hasher, sessions, beginAttempt, noteFailure, invalidate, clock } = deps;
  /** Lives as long as the process: whoever reads its output may set up from elsewhere. */
  const setupToken = randomBytes(16).toString('hex');

  const isDone = (executor: Executor) => store(executor).hasAdministrator();
  const done = () => refuse.forbidden('Setup is already complete');

  const checkToken = async (given: string | undefined, actor: Actor): Promise<void> => {
    if (actor.isLocal) return;
    const attempt = await beginAttempt('(setup)', actor);
    if (given === undefined || !isSame(given, setupToken)) {
      await noteFailure({ action: 'auth.setup_refused', actor, resource: 'setup' });
      throw refuse.unauthorized('setup_token is required from other hosts; it is printed at start-up');
    }
    attempt.succeeded();
  };

  return {
    async state(): Promise<SetupState> {
      return { setup_required: !(await isDone(db)) };
    },

    /** Hands the token to whoever shows it to the operator; only while there is no administrator. */
    async announce(show: (setupToken: string) => void): Promise<void> {
      if (!(await isDone(db))) show(setupToken);
    },

    /** Makes the first administrator and signs them in. Throws a 403 once there is one. */
    async complete(input: Setup, actor: Actor): Promise<SignedIn> {
      if (await isDone(db)) throw done();
      await checkToken(input.setup_token, actor);
      const email = readEmail(input.email);
      checkNewPassword(input.password, email);
      const password_hash = await hasher.hash(input.password, actor.isLocal);
      const fields = { email, name: input.name, role: 'admin', status: 'active', password_hash } as const;
      const signedIn = await transactAside(async (tx) => {
        if (await isDone(tx)) throw done();
        const user = await store(tx).insertUser(newUserRow(fields, clock().toISOString()));
        return sessions.open(tx, user, actor, 'auth.setup');
      }).catch(refuseDuplicate);
      invalidate();
      return signedIn;
    },
  };
};
export type SetupService = ReturnType<typeof createSetup>;
