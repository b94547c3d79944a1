import type { Login, PasswordProof, RecoveryCodes, TotpConfirmation, TotpSecret } from '@sallyport/contract';
import { requireSession } from '@sallyport/store/accounts/session-only';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { StoredUser } from '@sallyport/store/database/account-tables';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { totpContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { AuthStore } from '../store.ts';
import { acceptTotp, describeSecret, newTotpSecret } from './codes.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

export interface SecondFactorDeps {
  transactAside: TransactAside;
  store: (executor: Executor) => AuthStore;
  vault: Vault;
  /** Throws a 403 or 429 unless the password is the caller's. */
  provePassword: (password: string, actor: Actor) => Promise<StoredUser>;
  /** Counts wrong codes like wrong passwords. */
  beginAttempt: (account: string, actor: Actor) => Promise<{ succeeded(): void }>;
  isRequired: () => Promise<boolean>;
  record: RecordChange;
  invalidate: () => void;
  clock: () => Date;
}

/**
 * Checks the second factor of a sign-in in its transaction and uses the code up.
 * Returns `missing` when the user has one and none was given.
 */
export const checkSecondFactor = async (
  store: AuthStore,
  vault: Vault,
  user: StoredUser,
  given: Pick<Login, 'totp_code' | 'recovery_code'>,
  now: Date,
): Promise<'passed' | 'missing' | 'wrong'> => {
  if (user.totp_enabled !== 1 || user.totp_sealed === null) return 'passed';
  if (given.totp_code) {
    const secret = Buffer.from(vault.open(user.totp_sealed, totpContext(user.id)), 'base64');
    const step = await acceptTotp(secret, given.totp_code, user.totp_last_step, now);
    if (step === undefined) return 'wrong';
    await store.updateUser(user.id, { totp_last_step: step });
    return 'passed';
  }
  if (!given.recovery_code) return 'missing';
  return (await store.takeRecoveryCode(user.id, hashRecoveryCode(given.recovery_code))) ? 'passed' : 'wrong';
};

export const createSecondFactor = (deps: SecondFactorDeps) => {
  const { transactAside, store, vault, provePassword, beginAttempt, isRequired, record, invalidate, clock } = deps;

  const userOf = async (tx: Executor, actor: Actor): Promise<StoredUser> => {
    const user = await store(tx).find(requireSession(actor).id);
    if (!user) throw refuse.unauthorized('Authentication required');
    return user;
  };

  const replaceRecoveryCodes = async (tx: Executor, userId: number): Promise<RecoveryCodes> => {
    const recovery_codes = await newRecoveryCodes();
    await store(tx).setRecoveryCodes(userId, recovery_codes.map(hashRecoveryCode));
    return { recovery_codes };
  };

  return {
    /** Makes a new secret; it counts only when `enable` has proved that the app holds it. */
    async begin({ password }: PasswordProof, actor: Actor): Promise<TotpSecret> {
      requireSession(actor);
      await provePassword(password, actor);
      const secret = newTotpSecret();
      return transactAside(async (tx) => {
        const user = await userOf(tx, actor);
        if (user.totp_enabled === 1) throw refuse.conflict('Two-factor sign-in is already set up');
        const totp_sealed = vault.seal(secret.toString('base64'), totpContext(user.id));
        // Steps of an earlier secret mean nothing for this one.
        await store(tx).updateUser(user.id, { totp_sealed, totp_last_step: 0 });
        await record(tx, { action: 'auth.totp_begun', actor, resource: `users/${user.id}` });
        return describeSecret(secret, user.email);
      });
    },

    /** Turns two-factor sign-in on; returns the recovery codes. */
    async enable({ code }: TotpConfirmation, actor: Actor): Promise<RecoveryCodes> {
      const attempt = await beginAttempt(requireSession(actor).email, actor);
      const codes = await transactAside(async (tx) => {
        const user = await userOf(tx, actor);
        if (user.totp_enabled === 1) throw refuse.conflict('Two-factor sign-in is already set up');
        if (user.totp_sealed === null) throw refuse.conflict('Two-factor sign-in has not been begun');
        const secret = Buffer.from(vault.open(user.totp_sealed, totpContext(user.id)), 'base64');
        const step = await acceptTotp(secret, code, user.totp_last_step, clock());
        if (step === undefined) throw refuse.invalid('code is wrong');
        await store(tx).updateUser(user.id, { totp_enabled: 1, totp_last_step: step });
        await record(tx, { action: 'auth.totp_enabled', actor, resource: `users/${user.id}` });
        return replaceRecoveryCodes(tx, user.id);
      });
      attempt.succeeded();
      invalidate();
      return codes;
    },

    /** Turns two-factor sign-in off. Throws a 409 while an administrator demands it. */
    async disable({ password }: PasswordProof, actor: Actor): Promise<void> {
      requireSession(actor);
      await provePassword(password, actor);
      if (await isRequired()) throw refuse.conflict('Two-factor sign-in is required by an administrator');
      await transactAside(async (tx) => {
        const user = await userOf(tx, actor);
        await store(tx).updateUser(user.id, { totp_enabled: 0, totp_sealed: null });
        await store(tx).setRecoveryCodes(user.id, []);
        await record(tx, { action: 'auth.totp_disabled', actor, resource: `users/${user.id}` });
      });
      invalidate();
    },

    /** Replaces all recovery codes. */
    async renewRecoveryCodes({ password }: PasswordProof, actor: Actor): Promise<RecoveryCodes> {
      requireSession(actor);
      await provePassword(password, actor);
      return transactAside(async (tx) => {
        const user = await userOf(tx, actor);
        if (user.totp_enabled !== 1) throw refuse.conflict('Two-factor sign-in is not set up');
        await record(tx, { action: 'auth.recovery_codes_renewed', actor, resource: `users/${user.id}` });
        return replaceRecoveryCodes(tx, user.id);
      });
    },
  };
};
export type SecondFactor = ReturnType<typeof createSecondFactor>;
