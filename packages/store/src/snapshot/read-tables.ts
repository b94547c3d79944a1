import { sql } from 'kysely';
import { type Database, type DatabaseOptions, type Executor, openDatabase } from '../database/open.ts';
import { KEPT_TABLES, TABLES, type TableName } from './tables.ts';

/** What a column holds, in the same form whichever database it comes from: flags are 0 and 1, moments and JSON text. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** Some rows of a table. A table may come in several of them, one after the other, and an empty one not at all. */
export interface TableRows {
  table: string;
  rows: readonly Row[];
}

const ROWS_A_PORTION = 1_000;

/** Brings a row into the form that is the same for both databases. Throws for a value that has none. */
const toPortable = (table: TableName, row: Record<string, unknown>): Row => {
  const portable: Record<string, Value> = {};
  for (const [column, value] of Object.entries(row)) {
    const isBigint = value !== null && TABLES[table].bigints?.includes(column) === true;
    const plain = isBigint ? Number(value) : value;
    if (plain !== null && typeof plain !== 'string' && !Number.isSafeInteger(plain)) {
      throw new Error(`${table}.${column} holds ${typeof value} ${String(value)}, which no snapshot can hold`);
    }
    portable[column] = plain as Value;
  }
  return portable;
};

/**
 * The rows of these tables (those of a backup unless told otherwise), at most 1,000 at a time, in the order of `TABLES` and
 * of their keys. To be run in one transaction that sees one state: `inSnapshot` opens it.
 */
export async function* readTables(
  tx: Executor,
  tables: readonly TableName[] = KEPT_TABLES,
): AsyncGenerator<{ table: TableName; rows: Row[] }> {
  for (const table of tables) {
    const { key } = TABLES[table];
    const columns = sql.join(key.map((column) => sql.ref(column)));
    for (let last: Row | undefined; ; ) {
      const after = last;
      const { rows } = await sql<Record<string, unknown>>`
        select * from ${sql.table(table)}
        ${after ? sql`where (${columns}) > (${sql.join(key.map((column) => after[column]))})` : sql``}
        order by ${columns} limit ${sql.lit(ROWS_A_PORTION)}
      `.execute(tx);
      const portion = rows.map((row) => toPortable(table, row));
      if (portion.length > 0) yield { table, rows: portion };
      if (portion.length < ROWS_A_PORTION) break;
      last = portion.at(-1);
    }
  }
}

/**
 * Runs `work` in a transaction that sees the store as it is at one moment, on a connection of its own: others go on
 * reading and changing it meanwhile. Nothing can be changed in it.
 */
export const inSnapshot = async <T>(
  options: DatabaseOptions,
  work: (tx: Executor, kind: Database['kind']) => Promise<T>,
): Promise<T> => {
  const database = openDatabase(options);
  try {
    const { kysely, kind } = database;
    if (kind === 'sqlite') {
      await sql`pragma query_only = on`.execute(kysely);
      return await kysely.transaction().execute((tx) => work(tx, kind));
    }
    const transaction = kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
    return await database.unhurried(() => transaction.execute((tx) => work(tx, kind)));
  } finally {
    await database.stop();
  }
};
