import type { ListQuery, NewUser, Role, User, UserPatch, UserStatus } from '@sallyport/contract';
import type { Actor, RecordChange } from '../../actor.ts';
import type { StoredUser } from '../../database/account-tables.ts';
import type { Page } from '../../database/listing.ts';
import { type Executor, isUniqueViolation, type TransactAside } from '../../database/open.ts';
import { refuse } from '../../errors.ts';
import { anyVersion } from '../../object-version.ts';
import type { PasswordHasher } from '../../secrets/password-hasher.ts';
import { checkNewPassword } from '../../secrets/password-rules.ts';
import { readEmail } from './read-email.ts';
import type { UserStore } from './store.ts';
import { toUser } from './to-user.ts';

export interface UserDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => UserStore;
  hasher: Pick<PasswordHasher, 'hash'>;
  record: RecordChange;
  invalidate: () => void;
  clock: () => Date;
}

const MAX_NAME = 255;

/** A new account's row. */
export const newUserRow = (
  fields: { email: string; name?: string | undefined; role: Role; status: UserStatus; password_hash: string | null },
  now: string,
): Omit<StoredUser, 'id'> => ({
  ...fields,
  name: (fields.name ?? '').trim().slice(0, MAX_NAME),
  totp_sealed: null,
  totp_enabled: 0,
  totp_last_step: 0,
  last_login: null,
  created_at: now,
  updated_at: now,
});

/** Turns the violated unique constraint on the address into the answer it means. */
export const refuseDuplicate = (error: unknown): never => {
  if (isUniqueViolation(error)) throw refuse.conflict('A user with this e-mail address already exists');
  throw error;
};

const isActiveAdministrator = ({ role, status }: { role: string; status: string }): boolean =>
  role === 'admin' && status === 'active';

/** With a stolen session or a leaked token alone nobody may take over the account it belongs to. */
const refuseOwn = (id: number, { identity }: Actor, instead: string): void => {
  if (identity.kind !== 'user' || identity.id !== id) return;
  throw refuse.forbidden(`For the own account this takes the password: POST ${instead}`);
};

export const createUsers = ({ db, transactAside, store, hasher, record, invalidate, clock }: UserDeps) => {
  const findIn = async (executor: Executor, id: number): Promise<StoredUser> => {
    const user = await store(executor).find(id);
    if (!user) throw refuse.notFound('User not found');
    return user;
  };

  /** Called inside the transaction, whose lock no other change of accounts passes. */
  const keepAnAdministrator = async (
    tx: Executor,
    before: StoredUser,
    after: { role: string; status: string } | null,
  ) => {
    if (!isActiveAdministrator(before) || (after && isActiveAdministrator(after))) return;
    if (await store(tx).hasOtherAdministrator(before.id)) return;
    throw refuse.conflict('The last active administrator can not be removed, disabled or demoted');
  };

  const checkStatus = (before: StoredUser, after: StoredUser) => {
    if (before.status !== 'pending' && after.status === 'pending') {
      throw refuse.invalid('status can not go back to pending');
    }
    if (after.status === 'active' && after.password_hash === null) {
      throw refuse.invalid('password is required to activate a user who has not accepted the invitation');
    }
  };

  return {
    async list(query: ListQuery): Promise<Page<User>> {
      const page = await store(db).list(query);
      return { ...page, rows: page.rows.map(toUser) };
    },

    async get(id: number): Promise<User> {
      return toUser(await findIn(db, id));
    },

    /** Adds an active user. Throws a 400 that names the field, a 409 for an address that is taken. */
    async create(input: NewUser, actor: Actor): Promise<User> {
      const email = readEmail(input.email);
      checkNewPassword(input.password, email);
      const password_hash = await hasher.hash(input.password, actor.isLocal);
      const fields = { email, name: input.name, role: input.role ?? 'user', status: 'active', password_hash } as const;
      const user = await transactAside(async (tx) => {
        const after = await store(tx).insert(newUserRow(fields, clock().toISOString()));
        await record(tx, { action: 'user.create', actor, resource: `users/${after.id}`, after: toUser(after) });
        return after;
      }).catch(refuseDuplicate);
      invalidate();
      return toUser(user);
    },

    /**
     * Changes a user; acts at once on open sessions and tokens. A new password or a disabled account ends all sessions.
     * Throws a 403 for the caller's own password, a 412 when `checkVersion` refuses the user as it is.
     */
    async update(
      id: number,
      { password, email: givenEmail, ...patch }: UserPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<User> {
      if (password !== undefined) refuseOwn(id, actor, '/auth/change-password');
      const current = await findIn(db, id);
      const email = givenEmail === undefined ? undefined : readEmail(givenEmail);
      if (password !== undefined) checkNewPassword(password, email ?? current.email);
      const password_hash = password === undefined ? undefined : await hasher.hash(password, actor.isLocal);
      const user = await transactAside(async (tx) => {
        const before = await findIn(tx, id);
        checkVersion(toUser(before));
        const after: StoredUser = {
          ...before,
          ...patch,
          name: (patch.name ?? before.name).trim(),
          email: email ?? before.email,
          password_hash: password_hash ?? before.password_hash,
          updated_at: clock().toISOString(),
        };
        checkStatus(before, after);
        await keepAnAdministrator(tx, before, after);
        const { id: _id, ...fields } = after;
        const stored = await store(tx).update(id, fields);
        // The link went to the old address, and whoever reads mail there could still use it.
        if (after.email !== before.email) await store(tx).voidInvites(id, after.updated_at);
        if (password_hash !== undefined || after.status === 'disabled') await store(tx).endSessions(id);
        await record(tx, {
          action: 'user.update',
          actor,
          resource: `users/${id}`,
          before: { ...toUser(before), password_set: before.password_hash },
          after: { ...toUser(stored), password_set: stored.password_hash },
        });
        return stored;
      }).catch(refuseDuplicate);
      invalidate();
      return toUser(user);
    },

    /** Deletes a user with sessions, tokens and invitations; what they did stays in the audit trail. */
    async remove(id: number, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transactAside(async (tx) => {
        const before = await findIn(tx, id);
        checkVersion(toUser(before));
        await keepAnAdministrator(tx, before, null);
        await store(tx).delete(id);
        await record(tx, { action: 'user.delete', actor, resource: `users/${id}`, before: toUser(before) });
      });
      invalidate();
    },

    /** Turns two-factor sign-in off for somebody else who lost app and recovery codes; ends their sessions. */
    async clearTotp(id: number, actor: Actor, checkVersion = anyVersion): Promise<void> {
      refuseOwn(id, actor, '/auth/totp/disable');
      await transactAside(async (tx) => {
        checkVersion(toUser(await findIn(tx, id)));
        await store(tx).clearTotp(id);
        await store(tx).endSessions(id);
        await record(tx, { action: 'user.totp_cleared', actor, resource: `users/${id}` });
      });
      invalidate();
    },

    /** The user with this address; undefined when there is none. */
    async findByEmail(email: string): Promise<User | undefined> {
      const user = await store(db).findByEmail(readEmail(email));
      return user && toUser(user);
    },
  };
};
export type Users = ReturnType<typeof createUsers>;
