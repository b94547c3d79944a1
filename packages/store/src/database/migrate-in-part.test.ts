import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { MIGRATION_NAMES, migrate, migrationsOf, pendingMigrations } from './migrate.ts';
import { type Database, openDatabase } from './open.ts';

const withEmpty = (work: (database: Database) => Promise<void>) =>
  withTemporaryDirectory(async (dataDir) => {
    const database = openDatabase({ dataDir, databaseUrl: undefined });
    try {
      await work(database);
    } finally {
      await database.stop();
    }
  });

const tablesOf = async ({ kysely }: Database): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(kysely);
  return rows.map(({ name }) => name);
};

const [first = '', second = '', third = ''] = MIGRATION_NAMES;

test('every step that there is is one to take', () => {
  const files = readdirSync(new URL('./migrations', import.meta.url));
  expect(MIGRATION_NAMES).toEqual(files.map((name) => name.replace('.ts', '')).toSorted());
});

test('a store stays behind at the steps that are given, and takes the others later, each once and in order', () =>
  withEmpty(async (database) => {
    expect(await pendingMigrations(database)).toEqual(MIGRATION_NAMES);
    expect(await tablesOf(database)).toEqual([]);
    expect(await migrate(database, [])).toEqual([]);
    expect(await tablesOf(database)).toEqual(['schema_migrations']);
    expect(await pendingMigrations(database)).toEqual(MIGRATION_NAMES);
    expect(await migrate(database, [second, first])).toEqual([first, second]);
    expect(await migrationsOf(database.kysely)).toEqual([first, second]);
    expect(await pendingMigrations(database)).toEqual(MIGRATION_NAMES.slice(2));
    expect(await migrate(database, [first, third])).toEqual([third]);
    expect(await migrate(database)).toEqual(MIGRATION_NAMES.slice(3));
    expect(await migrate(database)).toEqual([]);
    expect(await pendingMigrations(database)).toEqual([]);
    expect(await migrationsOf(database.kysely)).toEqual(MIGRATION_NAMES);
    const { rows } = await sql<{ applied_at: string }>`select applied_at from schema_migrations`.execute(
      database.kysely,
    );
    for (const { applied_at } of rows) expect(new Date(applied_at).toISOString()).toBe(applied_at);
  }));

test('all steps are taken or none', () =>
  withEmpty(async (database) => {
    await migrate(database, [first]);
    const before = await tablesOf(database);
    // The last step makes a table of this name.
    await sql`create table revocations (x integer)`.execute(database.kysely);
    await expect(migrate(database)).rejects.toThrow('revocations');
    expect(await migrationsOf(database.kysely)).toEqual([first]);
    expect(await tablesOf(database)).toEqual([...before, 'revocations']);
    await sql`drop table revocations`.execute(database.kysely);
    expect(await migrate(database)).toEqual(MIGRATION_NAMES.slice(1));
  }));

test('steps that nobody here knows are those of a newer version, all of which are named', () =>
  withEmpty(async (database) => {
    await migrate(database, [first]);
    const later = sql`insert into schema_migrations (name, applied_at) values ('9999-b', ''), ('9998-a', '')`;
    await later.execute(database.kysely);
    const newer = {
      problems: [
        'the store was made by a newer version (it has 9998-a, 9999-b); run that version, or restore a backup',
      ],
    };
    await expect(migrate(database)).rejects.toMatchObject(newer);
    await expect(pendingMigrations(database)).rejects.toMatchObject(newer);
    expect(await migrationsOf(database.kysely)).toEqual([first, '9998-a', '9999-b']);
  }));

test('two who migrate at once take each step once', () =>
  withEmpty(async (database) => {
    const taken = await Promise.all([migrate(database), migrate(database)]);
    expect(taken.flat()).toEqual(MIGRATION_NAMES);
  }));

test('a store that can not be opened or reached is named in one line', () =>
  withTemporaryDirectory(async (dataDir) => {
    writeFileSync(join(dataDir, 'sallyport.db'), 'no database, however long one looks at it');
    for (const [databaseUrl, problem] of [
      [undefined, 'file is not a database'],
      ['postgres://u:hidden@127.0.0.1:1/x', 'connect ECONNREFUSED 127.0.0.1:1'],
    ] as const) {
      const database = openDatabase({ dataDir, databaseUrl });
      const unusable = { problems: [`the store can not be used: ${problem}`] };
      await expect(migrate(database)).rejects.toMatchObject(unusable);
      await expect(pendingMigrations(database)).rejects.toMatchObject(unusable);
      await database.stop();
    }
  }));
