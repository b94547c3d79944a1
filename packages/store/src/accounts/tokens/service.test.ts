import { withStore } from '@sallyport/server/testing/with-store';
import { expect, test } from 'vitest';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '../../actor.ts';
import type { Executor } from '../../database/open.ts';
import { hashSecret } from '../../secrets/hash-secret.ts';
import { newUserRow } from '../users/service.ts';
import { userStore } from '../users/store.ts';
import { createTokens } from './service.ts';
import { tokenStore } from './store.ts';

const NOW = '2026-05-02T12:00:00.000Z';

interface Given {
  tokens: ReturnType<typeof createTokens>;
  db: Executor;
  admin: number;
  user: number;
  actor: Actor;
  recorded: ChangeEntry[];
  forgotten: () => number;
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transactAside }) => {
    const recorded: ChangeEntry[] = [];
    let forgotten = 0;
    const tokens = createTokens({
      db,
      transactAside,
      store: tokenStore,
      record: async (_tx, entry) => void recorded.push(entry),
      invalidate: () => void forgotten++,
      clock: () => new Date(NOW),
    });
    const add = async (email: string, role: 'admin' | 'user') =>
      (await userStore(db).insert(newUserRow({ email, role, status: 'active', password_hash: 'x' }, NOW))).id;
    const admin = await add('ann@example.com', 'admin');
    const user = await add('bob@example.com', 'user');
    const actor = { ...systemActor('test'), identity: { kind: 'user', id: admin, sessionId: 's' } as UserIdentity };
    await work({ tokens, db, admin, user, actor, recorded, forgotten: () => forgotten });
  });

test('a token is shown once, kept as a hash, and has fewest rights unless more are asked for', () =>
  given(async ({ tokens, db, admin, actor, recorded, forgotten }) => {
    const { token, ...stored } = await tokens.create({ name: ' deploy ' }, admin, actor);
    expect(token).toMatch(/^sp_[\w-]{43}$/);
    expect(stored).toEqual({
      id: 1,
      name: 'deploy',
      role: 'user',
      owner: 'ann@example.com',
      hint: token.slice(0, 8),
      expires_at: null,
      last_used_at: null,
      created_at: NOW,
    });
    expect(await tokens.get(1)).toEqual(stored);
    const row = await db.selectFrom('api_tokens').selectAll().executeTakeFirstOrThrow();
    expect([row.token_hash, row.user_id]).toEqual([hashSecret(token), admin]);
    expect(JSON.stringify([row, recorded])).not.toContain(token);
    expect(recorded).toMatchObject([{ action: 'token.create', resource: 'tokens/1', after: stored }]);
    expect(forgotten()).toBe(1);
  }));

test('nobody gets more by a token than they may themselves, and who may not sign in gets none', () =>
  given(async ({ tokens, db, admin, user, actor, forgotten, recorded }) => {
    const make = (ownerId: number, role: 'admin' | 'user') =>
      tokens.create({ name: 'x', role }, ownerId, actor).then(
        (made) => made.role,
        ({ status, message }: { status: number; message: string }) => `${status} ${message}`,
      );
    expect(await make(admin, 'admin')).toBe('admin');
    expect(await make(admin, 'user')).toBe('user');
    expect(await make(user, 'user')).toBe('user');
    expect(await make(user, 'admin')).toBe('400 role must not exceed the owner’s role');
    for (const status of ['disabled', 'pending'] as const) {
      await userStore(db).update(admin, { status });
      expect(await make(admin, 'user')).toBe('400 the owner of a token must be an active user');
    }
    expect(await make(99, 'user')).toBe('400 the owner of a token must be an active user');
    await expect(tokens.create({ name: ' ' }, user, actor)).rejects.toMatchObject({ status: 400 });
    expect([(await tokens.list({})).total, recorded.length, forgotten()]).toEqual([3, 3, 3]);
  }));

test('a token ends in the future, or never', () =>
  given(async ({ tokens, admin, actor }) => {
    const ends = (expires_at: string | null) =>
      tokens.create({ name: 'x', expires_at }, admin, actor).then(
        (made) => made.expires_at,
        ({ message }: { message: string }) => message,
      );
    expect(await ends(null)).toBeNull();
    expect(await ends('2026-05-02T14:00:00.001+02:00')).toBe('2026-05-02T12:00:00.001Z');
    for (const past of [NOW, '2026-05-02T11:59:59.999Z', 'soon']) {
      expect(await ends(past)).toBe('expires_at must be in the future');
    }
  }));

test('tokens are listed by what is known of them; one that is revoked is gone at once', () =>
  given(async ({ tokens, admin, user, actor, recorded, forgotten }) => {
    await tokens.create({ name: 'b', role: 'admin' }, admin, actor);
    const { token, ...second } = await tokens.create({ name: 'a' }, user, actor);
    const names = async (query: object) => (await tokens.list(query)).rows.map(({ name }) => name);
    expect(await names({})).toEqual(['b', 'a']);
    for (const sort of ['name', 'role'] as const) {
      expect(await names({ sort, order: 'desc' })).toEqual(sort === 'name' ? ['b', 'a'] : ['a', 'b']);
    }
    for (const sort of ['owner', 'expires_at', 'last_used_at', 'created_at']) await names({ sort });
    await expect(names({ sort: 'token_hash' })).rejects.toMatchObject({ status: 400 });
    expect(await names({ search: 'BOB@' })).toEqual(['a']);
    expect(await names({ search: second.hint })).toContain('a');
    expect(await names({ search: 'b', per_page: 1, page: 2 })).toEqual(['a']);
    const moved = () => {
      throw new Error('another version');
    };
    await expect(tokens.remove(2, actor, moved)).rejects.toThrow('another version');
    expect(await tokens.get(2)).toEqual(second);
    await tokens.remove(2, actor);
    await expect(tokens.get(2)).rejects.toMatchObject({ status: 404 });
    await expect(tokens.remove(2, actor)).rejects.toMatchObject({ status: 404 });
    expect(await names({})).toEqual(['b']);
    expect(recorded.at(-1)).toMatchObject({ action: 'token.delete', resource: 'tokens/2', before: second });
    expect(JSON.stringify(recorded)).not.toContain(token);
    expect(forgotten()).toBe(3);
  }));
