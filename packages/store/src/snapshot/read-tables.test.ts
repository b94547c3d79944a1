import { emptyStore, onBothDatabases } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { inSnapshot, type Row, readTables } from './read-tables.ts';
import { ALL_TABLES, KEPT_TABLES, TABLES, type TableName } from './tables.ts';

const HOSTS = 2_345;

/** Every column of these is of the kinds that both databases give in one form. */
const KINDS = new Set(['integer', 'int4', 'text']);

onBothDatabases('a snapshot', (kind) => {
  test('knows every table there is, its key and what its columns hold', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      await migrate(database);
      const found = (await database.kysely.introspection.getTables()).filter(
        ({ name }) => name !== 'schema_migrations',
      );
      expect(found.map(({ name }) => name).sort()).toEqual([...ALL_TABLES].sort());
      for (const { name, columns } of found) {
        const rule = TABLES[name as TableName];
        const names = columns.map((column) => column.name);
        expect(names).toEqual(expect.arrayContaining([...rule.key, ...(rule.bigints ?? [])]));
        const others = columns.filter((column) => !rule.bigints?.includes(column.name));
        for (const { name: column, dataType } of others) {
          expect(KINDS, `${name}.${column} is ${dataType}`).toContain(dataType.toLowerCase());
        }
      }
      await database.stop();
    });
  });

  test('holds every row once, in the order of the key, as both databases would give it', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      await migrate(database);
      const { kysely: db } = database;
      await db.transaction().execute(async (tx) => {
        for (let id = 1; id <= HOSTS; id += 1) {
          await tx
            .insertInto('origin_addresses')
            .values({ name: `host-${id}.test`, address: '127.0.0.1', resolved_at: '2026-01-01T00:00:00.000Z' })
            .execute();
        }
        await tx
          .insertInto('users')
          .values({
            email: 'ä@example.com',
            name: 'Zoë 🦊',
            role: 'admin',
            status: 'active',
            password_hash: null,
            totp_sealed: null,
            totp_enabled: 1,
            totp_last_step: 58_000_000,
            last_login: null,
            created_at: '2026-01-01T00:00:00.000Z',
            updated_at: '2026-01-01T00:00:00.000Z',
          })
          .execute();
        for (let code = 0; code < 1_200; code += 1) {
          await tx
            .insertInto('recovery_codes')
            .values({ user_id: 1, code_hash: String(code) })
            .execute();
        }
      });
      await sql`update revisions set revision = 9007199254740991`.execute(db);
      const read = new Map<string, Row[]>();
      await inSnapshot(config, async (tx) => {
        for await (const { table, rows } of readTables(tx, ALL_TABLES)) {
          expect(rows.length).toBeLessThanOrEqual(1_000);
          read.set(table, [...(read.get(table) ?? []), ...rows]);
        }
      });
      expect(new Set(read.get('origin_addresses')?.map(({ name }) => name)).size).toBe(HOSTS);
      expect(read.get('origin_addresses')).toHaveLength(HOSTS);
      expect(new Set(read.get('recovery_codes')?.map(({ code_hash }) => code_hash)).size).toBe(1_200);
      expect(read.get('users')).toEqual([
        expect.objectContaining({
          id: 1,
          name: 'Zoë 🦊',
          password_hash: null,
          totp_enabled: 1,
          totp_last_step: 58_000_000,
        }),
      ]);
      expect(read.get('revisions')?.[0]).toEqual({ id: 1, revision: 9_007_199_254_740_991 });
      await database.stop();
    });
  });

  test('shows one moment, whatever is changed while it is read, and changes nothing', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      await migrate(database);
      const put = (key: string) => database.kysely.insertInto('settings').values({ key, value: 'x' }).execute();
      await put('before');
      const keys = await inSnapshot(config, async (tx) => {
        const portions = readTables(tx, ['users', 'revisions', 'settings']);
        await portions.next();
        await put('meanwhile');
        const rows: Row[] = [];
        for await (const portion of portions) rows.push(...portion.rows);
        return rows.map(({ key }) => key);
      });
      expect(keys).toEqual(['before']);
      const change = inSnapshot(config, (tx) => sql`delete from settings`.execute(tx));
      await expect(change).rejects.toThrow(/read-?only/);
      expect(await database.kysely.selectFrom('settings').select('key').execute()).toHaveLength(2);
      await database.stop();
    });
  });
});

test('a backup holds what was configured, and no sign-in', () => {
  expect(KEPT_TABLES).toContain('proxy_hosts');
  expect(KEPT_TABLES).not.toContain('sessions');
  expect(KEPT_TABLES).not.toContain('revisions');
});
