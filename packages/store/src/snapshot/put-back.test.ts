import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { emptyStore, onBothDatabases } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { MIGRATION_NAMES, migrate } from '../database/migrate.ts';
import { type Database, type Executor, openDatabase } from '../database/open.ts';
import { copyTables, putBack } from './put-back.ts';
import { type Row, readTables, type TableRows } from './read-tables.ts';
import { type Snapshot, stage } from './stage.ts';
import { ALL_TABLES } from './tables.ts';

const NOW = '2026-06-01T00:00:00.000Z';
const then = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };

const host = (uuid: string, more: Row = {}): Row => ({
  uuid,
  name: '',
  domain: `${uuid}.test`,
  forward_scheme: 'http',
  forward_host: '127.0.0.1',
  forward_port: 8080,
  ssl_forced: 0,
  http2_support: 1,
  hsts_enabled: 0,
  hsts_subdomains: 0,
  block_exploits: 1,
  websocket_support: 0,
  enabled: 1,
  enable_standard_headers: 1,
  forward_verify_tls: 1,
  forward_http2: 0,
  waf_enabled: 1,
  remote_server_id: null,
  certificate_id: null,
  access_list_id: null,
  ...then,
  ...more,
});

const addHost = async (db: Executor, uuid: string): Promise<number> => {
  const { id } = await db
    .insertInto('proxy_hosts')
    .values(host(uuid) as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('proxy_host_names')
    .values({ name: `${uuid}.test`, proxy_host_id: id })
    .execute();
  return id;
};

const addUser = (db: Executor, email: string) =>
  db
    .insertInto('users')
    .values({ email, name: email, role: 'admin', status: 'active', totp_enabled: 0, totp_last_step: 0, ...then })
    .execute();

const addBan = (db: Executor, uuid: string, expires_at: string | null = null) =>
  db
    .insertInto('decisions')
    .values({ uuid, ip: '192.0.2.1', action: 'block', details: '', source: 'manual', expires_at, created_at: NOW })
    .execute();

const read = async (db: Executor): Promise<TableRows[]> => {
  const portions: TableRows[] = [];
  for await (const portion of readTables(db)) portions.push(portion);
  return portions;
};

const snapshotOf = (tables: readonly TableRows[], migrations: readonly string[] = MIGRATION_NAMES): Snapshot => ({
  migrations,
  async *tables() {
    yield* tables;
  },
});

const hostsOf = async (db: Executor): Promise<string[]> =>
  (await db.selectFrom('proxy_hosts').select('uuid').orderBy('uuid').execute()).map(({ uuid }) => uuid);

const withStaged = async (
  dataDir: string,
  snapshot: Snapshot,
  work: (staged: Database) => Promise<void> = async () => {},
): Promise<void> => {
  const directory = join(dataDir, `staged-${Math.random()}`);
  mkdirSync(directory);
  const staged = await stage(directory, snapshot);
  try {
    await work(staged);
  } finally {
    await staged.stop();
  }
};

onBothDatabases('putting a snapshot back', (kind) => {
  test('brings back what was configured, leaves accounts as they are, and gives no id twice', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      const { kysely: db } = database;
      await migrate(database);
      await addUser(db, 'root@example.com');
      await addHost(db, 'kept');
      await addHost(db, 'removed-since');
      await addBan(db, 'lifted-since');
      await addBan(db, 'over', '2026-02-01T00:00:00.000Z');
      await db.insertInto('settings').values({ key: 'app.public_url', value: 'http://before' }).execute();
      const tables = await read(db);

      await db.updateTable('users').set({ password_hash: 'changed since' }).execute();
      await addUser(db, 'made-since@example.com');
      await db.deleteFrom('proxy_hosts').where('uuid', '=', 'removed-since').execute();
      await db.updateTable('proxy_hosts').set({ forward_port: 1 }).execute();
      const last = await addHost(db, 'made-since');
      await db.deleteFrom('decisions').execute();
      await addBan(db, 'banned-since');
      await db.updateTable('settings').set({ value: 'http://after' }).execute();
      const idempotent = { owner: 'x', resource: null, answer_sealed: '', created_at: NOW };
      await db
        .insertInto('idempotency_keys')
        .values([
          { id: 'done', answered: 1, ...idempotent },
          { id: 'under way', answered: 0, ...idempotent },
        ])
        .execute();
      const before = await db.selectFrom('revisions').select('revision').executeTakeFirstOrThrow();

      await withStaged(config.dataDir, snapshotOf(tables), (staged) =>
        database.transact((tx) => putBack(tx, { kind, staged: staged.kysely, now: NOW })),
      );

      expect(await hostsOf(db)).toEqual(['kept', 'removed-since']);
      expect(await db.selectFrom('proxy_hosts').select('forward_port').distinct().execute()).toEqual([
        { forward_port: 8080 },
      ]);
      expect(await db.selectFrom('settings').select('value').execute()).toEqual([{ value: 'http://before' }]);
      expect(await db.selectFrom('users').select(['email', 'password_hash']).orderBy('id').execute()).toEqual(
        [
          { email: 'root@example.com', password_hash: 'changed since' },
          { email: 'made-since@example.com', password_hash: 'changed since' },
        ].map((user, index) => (index === 0 ? user : { ...user, password_hash: null })),
      );
      const bans = await db.selectFrom('decisions').select('uuid').orderBy('uuid').execute();
      expect(bans.map(({ uuid }) => uuid)).toEqual(['banned-since', 'lifted-since']);
      expect(await db.selectFrom('idempotency_keys').select('id').execute()).toEqual([{ id: 'under way' }]);
      expect(await db.selectFrom('decision_versions').select('version').execute()).toEqual([{ version: 1 }]);
      const after = await db.selectFrom('revisions').select('revision').executeTakeFirstOrThrow();
      expect(Number(after.revision)).toBe(Number(before.revision) + 1);
      expect(await addHost(db, 'next')).toBeGreaterThan(last);
      await database.stop();
    });
  });

  test('gives a store that nobody has used everything, accounts and trail included', async () => {
    await emptyStore('sqlite', async (other) => {
      const source = openDatabase(other);
      await migrate(source);
      await addUser(source.kysely, 'root@example.com');
      await addHost(source.kysely, 'one');
      const tables = await read(source.kysely);
      await source.stop();
      await emptyStore(kind, async (config) => {
        const database = openDatabase(config);
        await migrate(database);
        await withStaged(config.dataDir, snapshotOf(tables), (staged) =>
          database.transact((tx) => putBack(tx, { kind, staged: staged.kysely, now: NOW })),
        );
        expect(await read(database.kysely)).toEqual(tables);
        await addUser(database.kysely, 'next@example.com');
        await database.stop();
      });
    });
  });

  test('changes nothing when it does not come to its end', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      const { kysely: db } = database;
      await migrate(database);
      await addUser(db, 'root@example.com');
      await addHost(db, 'one');
      const tables = await read(db);
      await addHost(db, 'two');
      const now = await read(db);
      await withStaged(config.dataDir, snapshotOf(tables), async (staged) => {
        const interrupted = database.transact(async (tx) => {
          await putBack(tx, { kind, staged: staged.kysely, now: NOW });
          throw new Error('the power went');
        });
        await expect(interrupted).rejects.toThrow('the power went');
      });
      expect(await read(db)).toEqual(now);
      await database.stop();
    });
  });

  test('copies a whole store to the other database and back, unchanged', async () => {
    const other = kind === 'sqlite' ? 'postgres' : 'sqlite';
    await emptyStore(kind, async (config) => {
      const source = openDatabase(config);
      await migrate(source);
      await addUser(source.kysely, 'root@example.com');
      await addHost(source.kysely, 'one');
      const gone = await addHost(source.kysely, 'gone');
      await source.kysely.deleteFrom('proxy_hosts').where('uuid', '=', 'gone').execute();
      await sql`update revisions set revision = 5000000000`.execute(source.kysely);
      await emptyStore(other, async (otherConfig) => {
        const target = openDatabase(otherConfig);
        await migrate(target);
        const counts = await target.transact((tx) => copyTables(tx, other, { tx: source.kysely, kind }));
        expect(counts.get('proxy_hosts')).toBe(1);
        const all = async (db: Executor) => {
          const portions: TableRows[] = [];
          for await (const portion of readTables(db, ALL_TABLES)) portions.push(portion);
          return portions;
        };
        expect(await all(target.kysely)).toEqual(await all(source.kysely));
        expect(await addHost(target.kysely, 'next')).toBeGreaterThan(gone);
        await target.stop();
      });
      await source.stop();
    });
  });
});

describe('a snapshot that is not what it should be', () => {
  const refused = async (tables: readonly TableRows[], message: RegExp, migrations?: readonly string[]) => {
    await emptyStore('sqlite', async ({ dataDir }) => {
      const attempt = withStaged(dataDir, snapshotOf(tables, migrations));
      await expect(attempt).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
    });
  };
  const id = (value: unknown): Row => host('a', { id: value as never });

  test.each<[string, TableRows, RegExp]>([
    ['table', { table: 'nonsense', rows: [{ a: 1 }] }, /no table nonsense/],
    ['table left out of backups', { table: 'sessions', rows: [{ id: 'a' }] }, /no table sessions/],
    ['table of the database', { table: 'sqlite_sequence', rows: [{ name: 'a' }] }, /no table sqlite_sequence/],
    ['column', { table: 'proxy_hosts', rows: [host('a', { 'x" = 1; --': 1 })] }, /proxy_hosts has no column x" = 1/],
    ['type', { table: 'proxy_hosts', rows: [host('a', { forward_port: 'x' })] }, /forward_port must be a whole number/],
    ['fraction', { table: 'proxy_hosts', rows: [host('a', { forward_port: 1.5 })] }, /forward_port must be a whole/],
    ['size', { table: 'proxy_hosts', rows: [host('a', { forward_port: 2 ** 40 })] }, /forward_port must be a whole/],
    ['object', { table: 'proxy_hosts', rows: [id({ toString: 1 })] }, /proxy_hosts.id must be a whole number/],
    ['number for text', { table: 'proxy_hosts', rows: [host('a', { name: 5 })] }, /proxy_hosts.name must be text/],
    ['NUL', { table: 'proxy_hosts', rows: [host('a', { name: 'a\0b' })] }, /proxy_hosts.name holds a NUL/],
    ['null', { table: 'proxy_hosts', rows: [host('a', { domain: null })] }, /proxy_hosts.domain has no value/],
    ['missing column', { table: 'settings', rows: [{ key: 'a' }] }, /settings.value is missing/],
    [
      'columns that differ',
      { table: 'proxy_hosts', rows: [host('a', { id: 1 }), host('b')] },
      /rows of proxy_hosts differ in their columns/,
    ],
    [
      'two of one key',
      { table: 'proxy_hosts', rows: [host('a', { id: 1 }), host('a', { id: 2 })] },
      /rows of proxy_hosts don't fit each other/,
    ],
    [
      'reference',
      { table: 'proxy_host_names', rows: [{ name: 'a.test', proxy_host_id: 7 }] },
      /a row of proxy_host_names refers to one of proxy_hosts that is missing/,
    ],
  ])('is refused by name: an unfitting %s', async (_what, rows, message) => {
    await refused([rows], message);
  });

  test('is refused when a newer version made it, with both levels', async () => {
    const newest = MIGRATION_NAMES.at(-1);
    await refused([], new RegExp(`it has 9999-later, and this version knows no step after ${newest}`), [
      ...MIGRATION_NAMES,
      '9999-later',
    ]);
    await refused([], /does not tell what made it/, []);
  });

  test('of an older version is brought up to this one on its way', async () => {
    await emptyStore('sqlite', async ({ dataDir }) => {
      const rows = [host('a', { id: 3 }), host('b', { id: 4, forward_host: 'example.test' })];
      const old = snapshotOf([{ table: 'proxy_hosts', rows }], ['0001-routes', '0002-accounts', '0003-audit']);
      await withStaged(dataDir, old, async ({ kysely }) => {
        const hosts = await kysely.selectFrom('proxy_hosts').select(['id', 'forward_reserved']).execute();
        // As step 0020 makes it of those that were there.
        expect(hosts).toEqual([
          { id: 3, forward_reserved: 1 },
          { id: 4, forward_reserved: 0 },
        ]);
      });
    });
  });
});
