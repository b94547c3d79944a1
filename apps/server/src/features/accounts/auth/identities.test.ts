import { createTokens } from '@sallyport/store/accounts/tokens/service';
import { tokenStore } from '@sallyport/store/accounts/tokens/store';
import { newUserRow } from '@sallyport/store/accounts/users/service';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Database } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createIdentities } from './identities.ts';
import { createSessionTokens } from './session-token.ts';
import { createSessions } from './sessions.ts';
import { authStore } from './store.ts';

const actor = { ...systemActor('test'), ip: '192.0.2.1', userAgent: 'curl' };

const makeGiven = async (database: Database) => {
  const { kysely: db, transactAside } = database;
  let now = Date.parse('2026-05-02T12:00:00.000Z');
  let isTotpRequired = false;
  const told: string[] = [];
  const recorded: ChangeEntry[] = [];
  const clock = () => new Date(now);
  const tokens = createSessionTokens('a secret of the deployment', clock);
  const store = authStore(db);
  const deps = { db, transactAside, store: authStore, tokens, clock };
  const record = async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry);
  const identities = createIdentities({
    ...deps,
    isTotpRequired: async () => isTotpRequired,
    log: pino({}, { write: (line) => void told.push(line) }),
  });
  const sessions = createSessions({ ...deps, record, invalidate: () => identities.invalidate() });
  const apiTokens = createTokens({ db, transactAside, store: tokenStore, record, invalidate: () => {}, clock });
  const fields = { email: 'ann@example.com', role: 'admin', status: 'active', password_hash: 'x' } as const;
  const user = await store.insertUser(newUserRow(fields, clock().toISOString()));
  return {
    db,
    store,
    user,
    told,
    recorded,
    identities,
    sessions,
    pass(ms: number) {
      now += ms;
    },
    clock,
    demandTotp() {
      isTotpRequired = true;
    },
    signIn: (by: Partial<typeof actor> = {}) =>
      transactAside((tx) => sessions.open(tx, user, { ...actor, ...by }, 'auth.login')),
    apiToken: (role: 'admin' | 'user', expires_at: string | null = null) =>
      apiTokens.create({ name: 'deploy', role, expires_at }, user.id, actor),
    sessionRows: () => db.selectFrom('sessions').selectAll().orderBy('created_at').execute(),
  };
};
const withGiven = (work: (given: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async (database) => {
    await work(await makeGiven(database));
  });

describe('who a token stands for', () => {
  test('is known without asking again for less than a second, whatever another process changes', () =>
    withGiven(async ({ identities, store, user, signIn, pass }) => {
      const { token } = await signIn();
      expect(await identities.resolve(token)).toMatchObject({ id: user.id, role: 'admin', token: null });
      await store.updateUser(user.id, { status: 'disabled' });
      pass(999);
      expect(identities.resolve(token)).toMatchObject({ id: user.id });
      pass(1);
      expect(await identities.resolve(token)).toBeUndefined();
      // What is not there is not remembered either.
      await store.updateUser(user.id, { status: 'active' });
      expect(await identities.resolve(token)).toMatchObject({ id: user.id });
    }));

  test('is asked again at once after a change of our own, also when it was being read meanwhile', () =>
    withGiven(async ({ identities, store, user, signIn }) => {
      const { token } = await signIn();
      await identities.resolve(token);
      identities.invalidate();
      const reading = identities.resolve(token);
      identities.invalidate();
      expect(await reading).toMatchObject({ id: user.id });
      await store.updateUser(user.id, { role: 'user' });
      expect(await identities.resolve(token)).toMatchObject({ role: 'user' });
    }));

  test('is asked again when the clock goes back', () =>
    withGiven(async ({ identities, store, user, signIn, pass }) => {
      const { token } = await signIn();
      pass(4_000);
      await identities.resolve(token);
      await store.updateUser(user.id, { status: 'disabled' });
      pass(-2_000);
      expect(await identities.resolve(token)).toBeUndefined();
    }));

  test('ends to the moment, remembered or not', () =>
    withGiven(async ({ identities, db, signIn, apiToken, pass, clock }) => {
      const endsAt = new Date(clock().getTime() + 500).toISOString();
      const { token } = await signIn();
      await db.updateTable('sessions').set({ expires_at: endsAt }).execute();
      const { token: api } = await apiToken('admin', endsAt);
      const both = () => Promise.all([identities.resolve(token), identities.resolve(api)]);
      expect((await both()).map((identity) => identity?.kind)).toEqual(['user', 'user']);
      pass(500);
      expect(await both()).toEqual([undefined, undefined]);
      identities.invalidate();
      expect(await both()).toEqual([undefined, undefined]);
    }));

  test('never has more rights by an API token than the token and its owner have now', () =>
    withGiven(async ({ identities, store, user, apiToken, pass, demandTotp }) => {
      const [lower, higher] = [await apiToken('user'), await apiToken('admin')];
      demandTotp();
      expect(await identities.resolve(lower.token)).toMatchObject({ role: 'user' });
      expect(await identities.resolve(higher.token)).toEqual({
        kind: 'user',
        id: user.id,
        email: 'ann@example.com',
        role: 'admin',
        sessionId: null,
        token: { id: higher.id, name: 'deploy' },
        mustEnrolTotp: false,
      });
      await store.updateUser(user.id, { role: 'user' });
      pass(3_600_000);
      expect(await identities.resolve(higher.token)).toMatchObject({ role: 'user' });
      await store.updateUser(user.id, { status: 'disabled' });
      pass(1_000);
      expect(await identities.resolve(higher.token)).toBeUndefined();
    }));

  test('has to set up the second factor where it is demanded and not there yet', () =>
    withGiven(async ({ identities, store, user, signIn, demandTotp }) => {
      const { token } = await signIn();
      const mustEnrol = async () => {
        identities.invalidate();
        return (await identities.resolve(token))?.mustEnrolTotp;
      };
      expect(await mustEnrol()).toBe(false);
      demandTotp();
      expect(await mustEnrol()).toBe(true);
      await store.updateUser(user.id, { totp_enabled: 1 });
      expect(await mustEnrol()).toBe(false);
    }));

  test('is noted as used to the minute, and let in also where that can not be noted', () =>
    withGiven(async ({ identities, db, signIn, apiToken, sessionRows, pass, clock, told }) => {
      const [{ token }, { token: api }] = [await signIn(), await apiToken('user')];
      const begun = clock().toISOString();
      const usedAt = async () => {
        identities.invalidate();
        await identities.resolve(token);
        await identities.resolve(api);
        const row = await db.selectFrom('api_tokens').select('last_used_at').executeTakeFirst();
        return [(await sessionRows())[0]?.last_seen_at, row?.last_used_at];
      };
      expect(await usedAt()).toEqual([begun, begun]);
      pass(59_999);
      expect(await usedAt()).toEqual([begun, begun]);
      pass(1);
      const later = clock().toISOString();
      expect(await usedAt()).toEqual([later, later]);
      await sql`create trigger full before update on sessions begin select raise(abort, 'disk is full'); end`.execute(
        db,
      );
      pass(60_000);
      identities.invalidate();
      expect(await identities.resolve(token)).toMatchObject({ email: 'ann@example.com' });
      expect(told.join('')).toContain('disk is full');
    }));

  test('is no other by a session of somebody else, another key or nobody', () =>
    withGiven(async ({ identities, store, signIn, clock, user }) => {
      const fields = { email: 'bob@example.com', role: 'user', status: 'active', password_hash: 'x' } as const;
      const bob = await store.insertUser(newUserRow(fields, clock().toISOString()));
      const { token } = await signIn();
      const sessionId = (await identities.resolve(token))?.sessionId ?? '';
      const claims = {
        sessionId,
        role: 'admin',
        issuedAt: clock(),
        expiresAt: new Date(clock().getTime() + 60_000),
      } as const;
      const ours = createSessionTokens('a secret of the deployment', clock);
      const other = createSessionTokens('another secret', clock);
      expect(await identities.resolve(await ours.sign({ ...claims, userId: user.id }))).toMatchObject({ id: user.id });
      expect(await identities.resolve(await ours.sign({ ...claims, userId: bob.id }))).toBeUndefined();
      expect(await identities.resolve(await other.sign({ ...claims, userId: user.id }))).toBeUndefined();
      expect(other.keyId).not.toBe(ours.keyId);
      for (const unknown of ['sp_unknown', 'sp_', 'nonsense', '']) {
        expect(await identities.resolve(unknown)).toBeUndefined();
      }
      await store.deleteSessions(user.id);
      identities.invalidate();
      expect(await identities.resolve(token)).toBeUndefined();
    }));
});

describe('sessions', () => {
  test('hold where they were opened from, in what room there is for it', () =>
    withGiven(async ({ signIn, sessionRows, store, user, pass, recorded }) => {
      pass(250);
      const { expires_at } = await signIn({ userAgent: `\0${'x'.repeat(300)}` });
      // To the whole second, as the token says it.
      expect(expires_at).toBe('2026-05-03T12:00:00.000Z');
      expect(await sessionRows()).toMatchObject([{ ip: '192.0.2.1', user_agent: 'x'.repeat(255), expires_at }]);
      const [session] = await sessionRows();
      expect(recorded).toMatchObject([
        {
          action: 'auth.login',
          resource: `users/${user.id}`,
          actor: { ip: '192.0.2.1', identity: { kind: 'user', id: user.id, role: 'admin', sessionId: session?.id } },
        },
      ]);
      expect((await store.find(user.id))?.last_login).toBe('2026-05-02T12:00:00.250Z');
    }));

  test('are fifty at most, of which the oldest ends, and none that is over', () =>
    withGiven(async ({ signIn, sessionRows, identities, pass, db, store, user, clock }) => {
      const { token: first } = await signIn();
      pass(1);
      const { token: second } = await signIn();
      for (let more = 0; more < 48; more++) {
        pass(1);
        await signIn();
      }
      expect(await sessionRows()).toHaveLength(50);
      expect(await identities.resolve(first)).toBeDefined();
      pass(1_000);
      await signIn();
      expect(await sessionRows()).toHaveLength(50);
      expect([await identities.resolve(first), (await identities.resolve(second))?.id]).toEqual([undefined, user.id]);
      await db.updateTable('sessions').set({ expires_at: clock().toISOString() }).execute();
      await store.tidySessions(user.id, clock().toISOString());
      expect(await sessionRows()).toEqual([]);
    }));

  test('of somebody are listed and ended one by one, at once, and nobody else can', () =>
    withGiven(async ({ signIn, sessions, identities, store, user, pass, clock, recorded }) => {
      const [first, second] = [await signIn(), await signIn({ ip: '192.0.2.2' })];
      expect(first.user).toMatchObject({ id: user.id, last_login: clock().toISOString() });
      const byFirst = { ...actor, identity: (await identities.resolve(first.token)) ?? actor.identity };
      const [mine, other] = [await identities.resolve(first.token), await identities.resolve(second.token)];
      const listed = (await sessions.list({ sort: 'ip' }, byFirst)).rows;
      expect(listed.map(({ id, ip, is_current }) => [id, ip, is_current])).toEqual([
        [mine?.sessionId, '192.0.2.1', true],
        [other?.sessionId, '192.0.2.2', false],
      ]);
      expect(Object.keys(listed[0] ?? {})).not.toContain('key_id');
      const fields = { email: 'bob@example.com', role: 'admin', status: 'active', password_hash: 'x' } as const;
      const bob = await store.insertUser(newUserRow(fields, clock().toISOString()));
      const byBob = { ...actor, identity: { ...byFirst.identity, id: bob.id } as typeof byFirst.identity };
      await expect(sessions.revoke(other?.sessionId ?? '', byBob)).rejects.toMatchObject({ status: 404 });
      expect(await identities.resolve(second.token)).toBeDefined();
      recorded.length = 0;
      await sessions.revoke(other?.sessionId ?? '', byFirst);
      expect(await identities.resolve(second.token)).toBeUndefined();
      expect(await identities.resolve(first.token)).toBeDefined();
      await sessions.logout(byFirst);
      expect(await identities.resolve(first.token)).toBeUndefined();
      expect(recorded.map(({ action, resource }) => [action, resource])).toEqual([
        ['auth.session_revoked', `auth/sessions/${other?.sessionId}`],
        ['auth.logout', `users/${user.id}`],
      ]);
      for (const by of [
        actor,
        { ...byFirst, identity: { ...byFirst.identity, sessionId: null } as typeof byFirst.identity },
      ]) {
        await expect(sessions.logout(by)).rejects.toThrow();
        await expect(sessions.list({}, by)).rejects.toThrow();
      }
      // Those of another key are none, and those that are over.
      await signIn();
      pass(24 * 3_600_000);
      expect((await sessions.list({}, byFirst)).rows).toEqual([]);
    }));
});
