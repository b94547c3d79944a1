import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { entityTag } from '@sallyport/store/object-version';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createSettings } from './service.ts';
import { settingStore } from './store.ts';

const session: Actor = { ...systemActor('test'), identity: { kind: 'user', sessionId: 's' } as UserIdentity };
const token: Actor = { ...session, identity: { kind: 'user', sessionId: null } as UserIdentity };

const given = (
  work: (it: {
    settings: ReturnType<typeof createSettings>;
    db: Executor;
    stored: (key: string) => Promise<string | undefined>;
    set: (key: string, value: string, actor?: Actor) => Promise<unknown>;
    recorded: ChangeEntry[];
    changed: string[];
    hooks: { isRefused: boolean; isKeyLost: boolean };
  }) => Promise<void>,
): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    const [recorded, changed] = [[] as ChangeEntry[], [] as string[]];
    const hooks = { isRefused: false, isKeyLost: false };
    const vaults = [createVault('k'.repeat(32)), createVault('l'.repeat(32))] as const;
    const settings = createSettings({
      db,
      transact,
      store: settingStore,
      vault: {
        ...vaults[0],
        seal: (...args) => vaults[0].seal(...args),
        open: (...args) => vaults[hooks.isKeyLost ? 1 : 0].open(...args),
      },
      record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
      async check() {
        if (hooks.isRefused) throw refuse.conflict('not now');
      },
      noticeOf: async (key, wasSet) => (key === 'smtp.host' ? `was set: ${wasSet}` : ''),
      changed: async (key) => void changed.push(key),
    });
    const stored = (key: string) => settingStore(db).get(key as never);
    await work({
      settings,
      db,
      stored,
      set: (key, value, actor = session) => settings.set({ key, value }, actor),
      recorded,
      changed,
      hooks,
    });
  });

test('a secret is kept sealed, read by the service alone, and nothing that is shown or written down has it', () =>
  given(async ({ settings, stored, set, recorded }) => {
    expect(await set('smtp.password', 'hunter2')).toEqual({ key: 'smtp.password', value: '' });
    expect(await stored('smtp.password')).not.toContain('hunter2');
    expect(await settings.read('smtp.password')).toBe('hunter2');
    expect(await settings.get('smtp.password')).toMatchObject({ value: '', is_secret: true, is_set: true });
    await set('smtp.password', 'hunter3');
    await settings.reset('smtp.password', session);
    for (const { before, after } of recorded) expect(JSON.stringify([before, after])).not.toContain('hunter');
    expect(recorded.map(({ before, after }) => [before, after])).toEqual([
      [{ value: null }, { value: '*** (new)' }],
      [{ value: '***' }, { value: '*** (new)' }],
      [{ value: '***' }, undefined],
    ]);
    // The history has it, told for a secret, so that it can go back.
    for (const { history } of recorded) expect(history).toMatchObject([{ secret: ['value'] }]);
    expect(recorded[1]?.history).toMatchObject([{ before: { value: 'hunter2' }, after: { value: 'hunter3' } }]);
    expect(recorded[2]?.history).toMatchObject([{ before: { value: 'hunter3' }, after: { value: null } }]);
  }));

test('a change is taken back by what was meant, secrets opened; lists never show them', () =>
  given(async ({ settings, set, db }) => {
    await set('smtp.password', 'hunter2');
    expect(await settings.within.current(db, 'smtp.password')).toEqual({ value: 'hunter2' });
    expect(await settings.within.current(db, 'smtp.host')).toEqual({ value: null });
    expect(await settings.within.current(db, 'no.such')).toBeUndefined();
    await settings.within.put(db, 'smtp.port', '25', session);
    expect(await settings.read('smtp.port')).toBe('25');
    await settings.within.put(db, 'smtp.port', null, session);
    expect(await settings.read('smtp.port')).toBe('587');
    const { rows } = await settings.list({ search: 'smtp.' });
    expect(rows.map(({ key }) => key)).toContain('smtp.password');
    expect(rows.map(({ key }) => key)).not.toContain('app.public_url');
    expect(JSON.stringify((await settings.list({})).rows)).not.toContain('hunter2');
  }));

test('a secret whose key is lost can be set anew', () =>
  given(async ({ settings, set, recorded, hooks }) => {
    await set('smtp.password', 'hunter2');
    hooks.isKeyLost = true;
    await expect(settings.read('smtp.password')).rejects.toThrow();
    await set('smtp.password', 'hunter3');
    expect(recorded[1]?.history).toEqual([]);
  }));

test('what decides about mails, backups and signing in takes a session', () =>
  given(async ({ settings, db, stored, set, changed }) => {
    for (const [key, value] of [
      ['smtp.host', 'mail.example.com'],
      ['app.public_url', 'https://example.com'],
      ['auth.require_totp', 'true'],
      ['backup.copy_unencrypted', 'true'],
    ] as const) {
      await expect(set(key, value, token), key).rejects.toMatchObject({ status: 403 });
      await expect(settings.reset(key, token), key).rejects.toMatchObject({ status: 403 });
      await expect(settings.within.put(db, key, value, token), key).rejects.toMatchObject({ status: 403 });
      expect(await stored(key)).toBeUndefined();
    }
    expect(changed).toEqual([]);
    await set('audit.retention_days', '7', token);
    expect(changed).toEqual(['audit.retention_days']);
  }));

test('what is refused changes nothing and tells nobody', () =>
  given(async ({ settings, stored, set, recorded, changed, hooks }) => {
    await set('audit.retention_days', '7');
    hooks.isRefused = true;
    await expect(set('audit.retention_days', '8')).rejects.toMatchObject({ status: 409 });
    await expect(settings.reset('audit.retention_days', session)).rejects.toMatchObject({ status: 409 });
    hooks.isRefused = false;
    const never = () => {
      throw refuse.conflict('another version');
    };
    await expect(settings.set({ key: 'audit.retention_days', value: '8' }, session, never)).rejects.toThrow('another');
    await expect(settings.reset('audit.retention_days', session, never)).rejects.toThrow('another');
    expect(await stored('audit.retention_days')).toBe('7');
    expect([recorded.length, changed.length]).toEqual([1, 1]);
  }));

test('is the default until it is set, and again when it is reset', () =>
  given(async ({ settings, set, recorded, changed }) => {
    const before = await settings.get('smtp.port');
    expect(before).toMatchObject({ value: '587', default: '587', is_set: false });
    await settings.reset('smtp.port', session);
    expect([recorded, changed]).toEqual([[], ['smtp.port']]);
    await set('smtp.port', '25');
    expect(await settings.get('smtp.port')).toMatchObject({ value: '25', is_set: true });
    expect(entityTag(await settings.get('smtp.port'))).not.toBe(entityTag(before));
    await settings.reset('smtp.port', session);
    expect(await settings.get('smtp.port')).toEqual(before);
    expect([
      await settings.isOn('auth.require_totp'),
      await set('smtp.host', 'a'),
      await set('smtp.host', 'b'),
    ]).toEqual([
      false,
      { key: 'smtp.host', value: 'a', notice: 'was set: false' },
      { key: 'smtp.host', value: 'b', notice: 'was set: true' },
    ]);
    for (const unknown of ['smtp.prot', 'toString'])
      await expect(settings.get(unknown), unknown).rejects.toMatchObject({ status: 404 });
  }));
