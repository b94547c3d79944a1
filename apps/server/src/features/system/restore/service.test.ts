import { readdirSync } from 'node:fs';
import { type Actor, systemActor, type UserIdentity } from '@sallyport/store/actor';
import { MIGRATION_NAMES } from '@sallyport/store/database/migrate';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { readTables, type TableRows } from '@sallyport/store/snapshot/read-tables';
import { KEPT_TABLES } from '@sallyport/store/snapshot/tables';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { settingStore } from '../settings/store.ts';
import { checkStoredSettings } from './check-settings.ts';
import { createRestore } from './service.ts';

const session: Actor = { ...systemActor('test'), identity: { kind: 'user', sessionId: 'x' } as UserIdentity };
const token: Actor = { ...session, identity: { kind: 'user', sessionId: null } as UserIdentity };
const NAME = 'the one of before';
const BEFORE = 'the one that was made before';

/** A store with two settings, of which the backup knows one with another value; and what was called, in turn. */
const withRestore = (
  work: (given: {
    restore: (more?: object, actor?: Actor) => Promise<unknown>;
    db: Executor;
    calls: string[];
    hooks: Record<'open' | 'check' | 'backUp' | 'close', () => Promise<void>>;
    value: () => Promise<string | undefined>;
    left: () => string[];
  }) => Promise<void>,
) =>
  withStore(async (database, dataDir) => {
    const config = { dataDir, databaseUrl: undefined, encryptionKey: 'a key of the deployment, long enough' };
    const { kysely: db } = database;
    const calls: string[] = [];
    const settings = settingStore(db);
    await settings.set('smtp.host', 'old.example.com');
    const tables: TableRows[] = [];
    for await (const one of readTables(db, KEPT_TABLES)) tables.push(one);
    await settings.set('smtp.host', 'new.example.com');
    const nothing = async () => {};
    const hooks = { open: nothing, check: nothing, backUp: nothing, close: nothing };
    const call = async (what: string, hook: () => Promise<void> = nothing) => {
      calls.push(what);
      await hook();
    };
    const { restore } = createRestore({
      database,
      vault: await openStoreVault(database, config),
      dataDir,
      async open(name, passphrase) {
        await call(`open ${name} ${passphrase}`, hooks.open);
        return {
          migrations: MIGRATION_NAMES,
          async *tables() {
            yield* tables;
          },
          key: undefined,
          putFiles: () => call('files'),
          close: () => call('closed'),
        };
      },
      async backUp(reason) {
        await call(reason, hooks.backUp);
        return BEFORE;
      },
      async check(staged) {
        await call(`check ${await settingStore(staged).get('smtp.host')}`, hooks.check);
      },
      during: (swap) => swap(() => call('proxy closed', hooks.close)),
      forget: () => void calls.push('forgotten'),
      record: (_tx, { action, resource, after }) => call(`${action} ${resource} ${JSON.stringify(after)}`),
      clock: () => new Date(),
    });
    await work({
      restore: (more = {}, actor = session) => restore(NAME, more, actor),
      db,
      calls,
      hooks,
      value: () => settings.get('smtp.host'),
      left: () => readdirSync(dataDir).filter((entry) => entry.startsWith('restore-')),
    });
  });

const changes = { settings: { added: 0, changed: 1, removed: 0 } };
const RECORDED = `backup.restore backups/${NAME} ${JSON.stringify({ changes, backup: BEFORE })}`;

test('what is there is backed up, the proxy is closed last of all before it is another, and then files come', () =>
  withRestore(async ({ restore, calls, value, left }) => {
    expect(await restore({ passphrase: 'p', dry_run: true })).toEqual({ restored: false, changes });
    expect([await value(), calls]).toEqual(['new.example.com', [`open ${NAME} p`, 'check old.example.com', 'closed']]);
    calls.length = 0;
    expect(await restore()).toEqual({ restored: true, changes, backup: BEFORE });
    expect([await value(), left(), calls]).toEqual([
      'old.example.com',
      [],
      [
        `open ${NAME} undefined`,
        'check old.example.com',
        'before-restore',
        RECORDED,
        'proxy closed',
        'files',
        'forgotten',
        'closed',
      ],
    ]);
  }));

test('it takes a session, and no other one under way', () =>
  withRestore(async ({ restore, calls, hooks, value }) => {
    await expect(restore({}, token)).rejects.toMatchObject({ status: 403 });
    expect(calls).toEqual([]);
    hooks.backUp = () => expect(restore()).rejects.toMatchObject({ status: 409 });
    expect(await restore()).toMatchObject({ restored: true });
    expect([await value(), calls.filter((call) => call.startsWith('open'))]).toEqual([
      'old.example.com',
      [`open ${NAME} undefined`],
    ]);
  }));

test.each([
  ['open', []],
  ['check', ['closed']],
  ['backUp', ['forgotten', 'closed']],
  ['close', ['forgotten', 'closed']],
] as const)(
  'when %s fails nothing was changed, everything is as it was before, and the next one is not kept from it',
  (hook, after) =>
    withRestore(async ({ restore, calls, hooks, value, left }) => {
      hooks[hook] = () => Promise.reject(refuse.invalid('not this one'));
      await expect(restore()).rejects.toMatchObject({ status: 400, message: 'not this one' });
      expect([await value(), left()]).toEqual(['new.example.com', []]);
      expect(calls).not.toContain('files');
      expect(calls.slice(calls.length - after.length)).toEqual(after);
      hooks[hook] = async () => {};
      expect(await restore()).toMatchObject({ restored: true });
    }),
);

test('what was changed after the backup before it is backed up as well; a store that never rests is left alone', () =>
  withRestore(async ({ restore, calls, hooks, db, value }) => {
    let times = 0;
    const change = async (most: number) => {
      if (++times > most) return;
      await settingStore(db).set('smtp.from', `${times}@example.com`);
      await sql`update revisions set revision = revision + 1 where id = 1`.execute(db);
    };
    hooks.backUp = () => change(Number.POSITIVE_INFINITY);
    await expect(restore()).rejects.toMatchObject({ status: 409 });
    expect([await value(), calls.filter((call) => call === 'before-restore').length]).toEqual(['new.example.com', 5]);
    expect(calls).not.toContain('proxy closed');
    times = 0;
    hooks.backUp = () => change(2);
    expect(await restore()).toMatchObject({ restored: true, changes: { settings: { removed: 1, changed: 1 } } });
    expect(await value()).toBe('old.example.com');
  }));

test('settings that nobody could have made are refused, and named', () =>
  withRestore(async ({ db }) => {
    await settingStore(db).set('backup.keep', '14');
    // What is sealed is no private key as anybody would write it.
    await settingStore(db).set('backup.copy_private_key', 'sealed');
    await checkStoredSettings(db);
    await settingStore(db).set('backup.keep', 'many');
    await expect(checkStoredSettings(db)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^setting backup\.keep: /),
    });
    await settingStore(db).delete('backup.keep');
    await settingStore(db).set('no.such.setting' as 'backup.keep', '');
    await expect(checkStoredSettings(db)).rejects.toMatchObject({
      message: expect.stringMatching(/^setting no\.such/),
    });
  }));
