import { sql } from 'kysely';
import { MIGRATION_NAMES, migrate } from '../database/migrate.ts';
import { type Database, openDatabase } from '../database/open.ts';
import { refuse } from '../errors.ts';
import { insertRows, readSchema } from './insert-rows.ts';
import type { TableRows } from './read-tables.ts';
import { KEPT_TABLES } from './tables.ts';

/** All rows of a store at one moment, whatever holds them. */
export interface Snapshot {
  /** Steps that the store had taken. */
  migrations: readonly string[];
  tables(): AsyncIterable<TableRows>;
}

/** Throws a `Refusal` (400) for the snapshot of a newer version, and names both levels. */
const checkLevel = ({ migrations }: Pick<Snapshot, 'migrations'>): void => {
  const unknown = migrations.filter((name) => !MIGRATION_NAMES.includes(name));
  if (unknown.length > 0) {
    throw refuse.invalid(
      `it was made by a newer version: it has ${unknown.join(', ')}, and this version knows no step after ${MIGRATION_NAMES.at(-1)}`,
    );
  }
  if (!migrations.includes(MIGRATION_NAMES[0] as string)) throw refuse.invalid('it does not tell what made it');
};

const checkReferences = async ({ kysely }: Database): Promise<void> => {
  const { rows } = await sql<{ table: string; parent: string }>`pragma foreign_key_check`.execute(kysely);
  const [first] = rows;
  if (first) throw refuse.invalid(`a row of ${first.table} refers to one of ${first.parent} that is missing`);
};

/**
 * Puts a snapshot into a SQLite store of its own in `directory`, which must be empty, and brings it up to this version:
 * what does not fit shows there, while nothing else is touched. To be stopped by whoever asked. Throws a `Refusal` (400)
 * that names what does not fit.
 */
export const stage = async (directory: string, snapshot: Snapshot): Promise<Database> => {
  checkLevel(snapshot);
  const database = openDatabase({ dataDir: directory, databaseUrl: undefined });
  try {
    const { kysely } = database;
    // It is thrown away: whatever happens, it is made anew.
    for (const pragma of ['foreign_keys = off', 'synchronous = off', 'journal_mode = memory']) {
      await sql`pragma ${sql.raw(pragma)}`.execute(kysely);
    }
    await migrate(database, snapshot.migrations);
    await kysely.transaction().execute(async (tx) => {
      const schema = await readSchema(tx);
      // Steps put rows of their own in.
      for (const table of KEPT_TABLES) if (schema.has(table)) await tx.deleteFrom(table).execute();
      for await (const { table, rows } of snapshot.tables()) {
        if (!KEPT_TABLES.includes(table as never)) throw refuse.invalid(`there is no table ${table} in a backup`);
        await insertRows(tx, 'sqlite', schema, { table, rows }).catch((error: { code?: string; message?: string }) => {
          if (!error.code?.startsWith('SQLITE_CONSTRAINT')) throw error;
          throw refuse.invalid(`rows of ${table} don't fit each other: ${error.message}`);
        });
      }
    });
    await migrate(database);
    await checkReferences(database);
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
};
