import { constants, DatabaseSync } from 'node:sqlite';
import { DatabaseError } from './error.ts';

/** A row; bytes are read as text. */
export type Row = Readonly<Record<string, string | number | null>>;

/** A database that somebody uploaded, in memory. */
export interface UploadedDatabase {
  /** Whether there is a table with these columns. */
  has(table: string, ...columns: readonly string[]): boolean;
  /** The columns of a table; none without it. */
  columns(table: string): string[];
  /** Rows of a table in the order of their `id`, with those of the columns that it has; none without the table. */
  rows(table: string, columns: readonly string[]): Row[];
}

const MAGIC = 'SQLite format 3\0';
/** Of a cell, a row or a statement of the schema. */
const MOST_LENGTH = 1024 * 1024;
const MOST_ROWS = 50_000;
const MOST_TABLES = 1_000;
const PRAGMAS = new Set(['quick_check', 'table_list', 'table_xinfo']);
const PLAIN = /^create\s+(?:table|(?:unique\s+)?index)\b/i;

/** Whether the bytes are those of a SQLite database. */
export const isDatabase = (bytes: Buffer): boolean => bytes.toString('latin1', 0, MAGIC.length) === MAGIC;

/** Whether it is one that keeps its latest changes in a log beside it while it is in use. */
export const keepsLog = (bytes: Buffer): boolean => bytes[19] === 2;

/** What reading may do, and nothing else, whatever the schema brings along. */
const onlyReading = (action: number, first: string | null): number => {
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_PRAGMA } = constants;
  const isAllowed =
    action === SQLITE_SELECT || action === SQLITE_READ || (action === SQLITE_PRAGMA && PRAGMAS.has(first ?? ''));
  return isAllowed ? SQLITE_OK : SQLITE_DENY;
};

const checkSchema = (database: DatabaseSync): void => {
  const objects = database.prepare('select type, name, sql from sqlite_schema limit ?').all(MOST_TABLES + 1);
  if (objects.length > MOST_TABLES) throw new DatabaseError(`it has more than ${MOST_TABLES} tables`);
  for (const { type, name, sql } of objects) {
    // Indexes that SQLite makes by itself have no text.
    if (sql === null && type === 'index') continue;
    if ((type === 'table' || type === 'index') && typeof sql === 'string' && PLAIN.test(sql)) continue;
    throw new DatabaseError(`it has a ${String(type)} ${String(name)} that is neither a plain table nor an index`, {
      table: String(name),
      text: typeof sql === 'string' ? sql : '',
    });
  }
};

const columnsOf = (database: DatabaseSync): Map<string, Set<string>> => {
  const tables = new Map<string, Set<string>>();
  for (const { schema, name, type } of database.prepare('pragma table_list').all()) {
    if (schema !== 'main' || typeof name !== 'string' || name.startsWith('sqlite_')) continue;
    if (type !== 'table') throw new DatabaseError(`${name} is no plain table`, { table: name });
    const columns = database.prepare(`pragma table_xinfo("${name.replaceAll('"', '""')}")`).all();
    const computed = columns.find(({ hidden }) => hidden !== 0);
    if (computed) {
      const column = String(computed.name);
      throw new DatabaseError(`the column ${column} of ${name} is computed`, { table: name, text: column });
    }
    tables.set(name, new Set(columns.map((column) => String(column.name))));
  }
  return tables;
};

const plain = (row: Record<string, unknown>): Row =>
  Object.fromEntries(
    Object.entries(row).map(([column, cell]) => {
      if (cell === null || typeof cell === 'string' || typeof cell === 'number') return [column, cell];
      return [column, cell instanceof Uint8Array ? Buffer.from(cell).toString('utf8') : String(cell)];
    }),
  );

const inWords = <Result>(work: () => Result, table?: string): Result => {
  try {
    return work();
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw new DatabaseError(`it can not be read: ${(error as Error).message}`, { table });
  }
};

/**
 * Opens a database of a stranger in memory, and looks whether it is whole. Views, triggers, virtual tables and computed columns
 * are refused, for they make work out of reading. Throws a `DatabaseError`, as `rows` does.
 */
export const openUploaded = (bytes: Buffer): UploadedDatabase & { close(): void } => {
  const database = new DatabaseSync(':memory:', { defensive: true, limits: { length: MOST_LENGTH, attach: 0 } });
  return inWords(() => {
    const image = Buffer.from(bytes);
    // One in memory has no log beside it.
    if (image.length >= 20) image.fill(1, 18, 20);
    database.exec('pragma trusted_schema = off; pragma ignore_check_constraints = on; pragma temp_store = memory');
    database.deserialize(image);
    database.setAuthorizer(onlyReading);
    checkSchema(database);
    const [first] = database.prepare('pragma quick_check(1)').all();
    if (first?.quick_check !== 'ok') {
      throw new DatabaseError(`it is damaged: ${String(first?.quick_check).replaceAll(/\s+/g, ' ')}`);
    }
    const tables = columnsOf(database);
    return {
      has(table: string, ...columns: readonly string[]) {
        return columns.every((column) => tables.get(table)?.has(column));
      },
      columns: (table: string) => [...(tables.get(table) ?? [])],
      rows(table: string, columns: readonly string[]) {
        const there = columns.filter((column) => tables.get(table)?.has(column));
        if (there.length === 0) return [];
        return inWords(() => {
          const names = there.map((name) => `"${name}"`).join(', ');
          const order = there.includes('id') ? ' order by id' : '';
          const found = database.prepare(`select ${names} from "${table}"${order} limit ?`).all(MOST_ROWS + 1);
          if (found.length > MOST_ROWS) {
            const row = Number(found[MOST_ROWS]?.id ?? 0);
            throw new DatabaseError(`${table} has more than ${MOST_ROWS} rows`, { table, row });
          }
          return found.map(plain);
        }, table);
      },
      close: () => database.close(),
    };
  });
};
