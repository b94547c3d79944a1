import type { UserPatch } from '@sallyport/contract';
import { withStore } from '@sallyport/server/testing/with-store';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '../../actor.ts';
import type { StoredUser } from '../../database/account-tables.ts';
import type { Executor } from '../../database/open.ts';
import { createUsers, newUserRow } from './service.ts';
import { userStore } from './store.ts';

const START = Date.parse('2026-05-02T12:00:00.000Z');
const PASSWORD = 'a new long password';

interface Given {
  users: ReturnType<typeof createUsers>;
  store: ReturnType<typeof userStore>;
  db: Executor;
  /** The only administrator. */
  admin: StoredUser;
  actor: Actor;
  add: (email: string, more?: Partial<Omit<StoredUser, 'id'>>) => Promise<StoredUser>;
  /** Opens a session of theirs, an invitation that is open, and one that was used. */
  openDoors: (user: StoredUser) => Promise<void>;
  /** How many sessions they have, and when their invitations end. */
  doors: (user: StoredUser) => Promise<{ sessions: number; invites: string[] }>;
  recorded: ChangeEntry[];
  forgotten: () => number;
}

const DAY = '2026-05-03T12:00:00.000Z';

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transactAside }) => {
    const recorded: ChangeEntry[] = [];
    let forgotten = 0;
    const now = new Date(START);
    const store = userStore(db);
    const users = createUsers({
      db,
      transactAside,
      store: userStore,
      hasher: { hash: async (password) => `hash of ${password}` },
      record: async (_tx, entry) => {
        expect(JSON.stringify(entry)).not.toMatch(/password_hash|totp_sealed/);
        recorded.push(entry);
      },
      invalidate: () => void forgotten++,
      clock: () => now,
    });
    const add: Given['add'] = (email, more = {}) =>
      store.insert({
        ...newUserRow({ email, role: 'user', status: 'active', password_hash: 'x' }, '2026-05-01T00:00:00.000Z'),
        ...more,
      });
    const admin = await add('ann@example.com', { role: 'admin' });
    const identity = { kind: 'user', id: admin.id, sessionId: 's', role: 'admin' } as UserIdentity;
    const actor: Actor = { ...systemActor('test'), identity, isLocal: false };
    await work({
      ...{ users, store, db, admin, actor, add, recorded },
      forgotten: () => forgotten,
      async openDoors({ id }) {
        const session = { id: `s${id}`, user_id: id, key_id: 'k', ip: '', user_agent: '', expires_at: DAY };
        const seen = { created_at: DAY, last_seen_at: DAY };
        await db
          .insertInto('sessions')
          .values({ ...session, ...seen } as never)
          .execute();
        for (const used_at of [null, DAY]) {
          const invite = { user_id: id, token_hash: `${id} ${used_at}`, created_at: DAY, expires_at: DAY, used_at };
          await db.insertInto('invites').values(invite).execute();
        }
      },
      async doors({ id }) {
        const sessions = await db.selectFrom('sessions').select('id').where('user_id', '=', id).execute();
        const invites = await db.selectFrom('invites').select('expires_at').where('user_id', '=', id).execute();
        return { sessions: sessions.length, invites: invites.map(({ expires_at }) => expires_at) };
      },
    });
  });

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
  );
const LAST = '409 The last active administrator can not be removed, disabled or demoted';

test('one active administrator stays, whoever else there is', () =>
  given(async ({ users, store, admin, add, actor, recorded }) => {
    const pending = await add('p@example.com', { role: 'admin', status: 'pending', password_hash: null });
    const disabled = await add('d@example.com', { role: 'admin', status: 'disabled' });
    await add('u@example.com');
    const attempts: UserPatch[] = [{ role: 'user' }, { status: 'disabled' }, { role: 'user', status: 'disabled' }];
    for (const patch of attempts) expect(await refusal(users.update(admin.id, patch, actor))).toBe(LAST);
    expect(await refusal(users.remove(admin.id, actor))).toBe(LAST);
    expect(await store.find(admin.id)).toEqual(admin);
    expect(recorded).toEqual([]);
    // Those that are none may go, and with a second one the first may.
    expect(await refusal(users.remove(pending.id, actor))).toBe('done');
    expect(await refusal(users.update(admin.id, { name: 'Ann' }, actor))).toBe('done');
    expect(await refusal(users.update(disabled.id, { status: 'active' }, actor))).toBe('done');
    expect(await refusal(users.update(admin.id, { role: 'user' }, actor))).toBe('done');
    expect(await refusal(users.remove(disabled.id, actor))).toBe(LAST);
    expect(await refusal(users.remove(admin.id, actor))).toBe('done');
    expect(await store.find(admin.id)).toBeUndefined();
  }));

test('a new password and a disabled account end the sessions of that user, and of no other', () =>
  given(async ({ users, add, actor, openDoors, doors, forgotten }) => {
    const [bob, eve] = [await add('bob@example.com'), await add('eve@example.com')];
    for (const user of [bob, eve]) await openDoors(user);
    for (const patch of [{ name: 'Bob' }, { role: 'admin' }, { status: 'active' }] as const) {
      await users.update(bob.id, patch, actor);
    }
    expect(await doors(bob)).toEqual({ sessions: 1, invites: [DAY, DAY] });
    await users.update(bob.id, { password: PASSWORD }, actor);
    expect((await doors(bob)).sessions).toBe(0);
    await users.update(eve.id, { status: 'disabled' }, actor);
    expect(await doors(eve)).toEqual({ sessions: 0, invites: [DAY, DAY] });
    expect(forgotten()).toBe(5);
    const dan = await add('dan@example.com');
    await openDoors(dan);
    await users.remove(dan.id, actor);
    expect(await doors(dan)).toEqual({ sessions: 0, invites: [] });
  }));

test('an invitation that is open ends with the address it went to', () =>
  given(async ({ users, add, actor, openDoors, doors }) => {
    const invited = { status: 'pending', password_hash: null } as const;
    const [bob, eve] = [await add('bob@example.com', invited), await add('eve@example.com', invited)];
    for (const user of [bob, eve]) await openDoors(user);
    await users.update(bob.id, { email: ' Bob@Example.com ', name: ' Bob ' }, actor);
    expect((await doors(bob)).invites).toEqual([DAY, DAY]);
    expect(await users.update(bob.id, { email: 'robert@example.com' }, actor)).toMatchObject({ name: 'Bob' });
    // One that was used stays as it is, and so does another one's.
    expect((await doors(bob)).invites).toEqual([new Date(START).toISOString(), DAY]);
    expect((await doors(eve)).invites).toEqual([DAY, DAY]);
    expect(await refusal(users.update(bob.id, { email: 'EVE@example.com' }, actor))).toBe(
      '409 A user with this e-mail address already exists',
    );
  }));

test('who has not accepted takes a password to be active, and nobody becomes pending again', () =>
  given(async ({ users, store, add, actor }) => {
    const bob = await add('bob@example.com', { status: 'pending', password_hash: null });
    const set = (patch: UserPatch) => refusal(users.update(bob.id, patch, actor));
    expect(await set({ status: 'active' })).toMatch(/^400 password is required to activate/);
    expect(await set({ status: 'pending', name: 'x' })).toBe('done');
    expect(await set({ status: 'active', password: 'short' })).toMatch(/^400 password must be at least/);
    expect(await set({ email: 'robert@example.com', password: 'robert@example.com' })).toMatch(
      /^400 password must not/,
    );
    expect(await set({ password: 'bob@example.com' })).toMatch(/^400 password must not/);
    expect(await set({ status: 'active', password: PASSWORD })).toBe('done');
    expect((await store.find(bob.id))?.password_hash).toBe(`hash of ${PASSWORD}`);
    for (const status of ['active', 'disabled'] as const) {
      await set({ status });
      expect(await set({ status: 'pending' })).toBe('400 status can not go back to pending');
    }
  }));

test('nobody takes the own account over with a session alone; what it takes is said', () =>
  given(async ({ users, store, admin, actor, add, openDoors, doors, recorded }) => {
    const own = '403 For the own account this takes the password: POST';
    expect(await refusal(users.update(admin.id, { password: PASSWORD }, actor))).toBe(`${own} /auth/change-password`);
    expect(await refusal(users.clearTotp(admin.id, actor))).toBe(`${own} /auth/totp/disable`);
    const here: Actor = { ...actor, identity: { kind: 'local' }, isLocal: true };
    expect(await refusal(users.update(admin.id, { password: PASSWORD }, here))).toBe('done');
    const bob = await add('bob@example.com', { totp_enabled: 1, totp_sealed: 'sealed' });
    await openDoors(bob);
    await users.clearTotp(bob.id, actor);
    expect(await store.find(bob.id)).toMatchObject({ totp_enabled: 0, totp_sealed: null });
    expect((await doors(bob)).sessions).toBe(0);
    expect(recorded.at(-1)).toMatchObject({ action: 'user.totp_cleared', resource: `users/${bob.id}` });
    // That a password was set is told, and neither it nor its hash.
    const [set] = recorded.map(({ before, after }) => ({ before, after }) as { before: object; after: object });
    expect([set?.before, set?.after]).toMatchObject([{ password_set: 'x' }, { password_set: `hash of ${PASSWORD}` }]);
  }));

test('a new user may do least unless more is said, and has an address of their own', () =>
  given(async ({ users, actor, recorded, forgotten, store }) => {
    const make = (email: string, more = {}) => users.create({ email, password: PASSWORD, ...more }, actor);
    const bob = await make(' Bob@Example.com ');
    expect(bob).toEqual({
      ...{ id: 2, email: 'bob@example.com', name: '', role: 'user', status: 'active', totp_enabled: false },
      ...{ last_login: null, created_at: '2026-05-02T12:00:00.000Z', updated_at: '2026-05-02T12:00:00.000Z' },
    });
    expect(await make('eve@example.com', { role: 'admin', name: ` ${'e'.repeat(300)}` })).toMatchObject({
      role: 'admin',
      name: 'e'.repeat(255),
    });
    expect(await refusal(make('BOB@example.com'))).toBe('409 A user with this e-mail address already exists');
    expect(await refusal(make('carl@example.com', { password: 'short' }))).toMatch(/^400 password/);
    expect(await refusal(make('carl'))).toBe('400 email must be a valid e-mail address');
    expect(recorded.map(({ action, resource }) => [action, resource])).toEqual([
      ['user.create', 'users/2'],
      ['user.create', 'users/3'],
    ]);
    expect(forgotten()).toBe(2);
    expect(await users.findByEmail('BOB@example.com')).toEqual(bob);
    expect(await users.findByEmail('carl@example.com')).toBeUndefined();
    expect((await store.find(2))?.password_hash).toBe(`hash of ${PASSWORD}`);
  }));

test('a user whom the store does not delete is not told as deleted', () =>
  given(async ({ users, db, add, actor, recorded }) => {
    const { id } = await add('bob@example.com');
    await sql`create trigger kept before delete on users begin select raise(abort, 'the disk is full'); end`.execute(
      db,
    );
    await expect(users.remove(id, actor)).rejects.toThrow('the disk is full');
    expect(recorded).toEqual([]);
    expect(await users.get(id)).toMatchObject({ id });
  }));

test('users are sorted, searched and paged', () =>
  given(async ({ users, add, actor }) => {
    await add('carl@example.com', { name: 'Zed' });
    await add('bob@example.com', { name: 'Carla' });
    const emails = async (query: object) => (await users.list(query)).rows.map(({ email }) => email.split('@', 1)[0]);
    expect(await emails({ sort: 'email' })).toEqual(['ann', 'bob', 'carl']);
    for (const sort of ['name', 'role', 'status', 'last_login', 'created_at', 'updated_at']) {
      expect(await emails({ sort })).toHaveLength(3);
    }
    await expect(emails({ sort: 'password_hash' })).rejects.toMatchObject({ status: 400 });
    expect(await emails({ search: 'CARL' })).toEqual(['carl', 'bob']);
    expect(await users.list({ page: 2, per_page: 2 })).toMatchObject({ total: 3, page: 2, perPage: 2 });
    expect(await users.get(2)).toMatchObject({ email: 'carl@example.com' });
    await expect(users.get(9)).rejects.toMatchObject({ status: 404 });
    const moved = () => {
      throw new Error('another version');
    };
    for (const change of [
      users.remove(2, actor, moved),
      users.update(2, {}, actor, moved),
      users.clearTotp(2, actor, moved),
    ]) {
      await expect(change).rejects.toThrow('another version');
    }
    expect(await emails({})).toEqual(['ann', 'carl', 'bob']);
  }));
