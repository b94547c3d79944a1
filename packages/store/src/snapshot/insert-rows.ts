import { CompiledQuery } from 'kysely';
import type { Database, Executor } from '../database/open.ts';
import { refuse } from '../errors.ts';
import type { Row, TableRows, Value } from './read-tables.ts';

/** What a column takes. */
interface ColumnRule {
  isText: boolean;
  isBigint: boolean;
  isNullable: boolean;
  hasDefault: boolean;
}

/** Columns of each table of a store, as its database tells them. */
export type Schema = ReadonlyMap<string, ReadonlyMap<string, ColumnRule>>;

/** SQLite binds at most 32,766 values a statement. */
const VALUES_A_STATEMENT = 10_000;
/** Of PostgreSQL's `integer`. */
const LARGEST_INTEGER = 2 ** 31 - 1;

/** Reads which tables and columns there are. */
export const readSchema = async (db: Executor): Promise<Schema> => {
  const tables = await db.introspection.getTables();
  return new Map(
    tables.map(({ name, columns }) => [
      name,
      new Map(
        columns.map(({ name: column, dataType, isNullable, hasDefaultValue, isAutoIncrementing }) => {
          const type = dataType.toLowerCase();
          const isBigint = type === 'bigint' || type === 'int8';
          const hasDefault = hasDefaultValue || isAutoIncrementing;
          return [column, { isText: type === 'text', isBigint, isNullable, hasDefault }];
        }),
      ),
    ]),
  );
};

const checkValue = (where: string, value: unknown, rule: ColumnRule): void => {
  if (value === null) {
    if (!rule.isNullable) throw refuse.invalid(`${where} has no value`);
  } else if (rule.isText) {
    if (typeof value !== 'string') throw refuse.invalid(`${where} must be text`);
    // PostgreSQL's text takes none, and nothing that we store holds one.
    if (value.includes('\0')) throw refuse.invalid(`${where} holds a NUL character`);
  } else {
    const isWhole = typeof value === 'number' && Number.isSafeInteger(value);
    if (!isWhole || (!rule.isBigint && Math.abs(value) > LARGEST_INTEGER)) {
      throw refuse.invalid(`${where} must be a whole number`);
    }
  }
};

/** The columns of these rows, which all have the same. Throws a `Refusal` that names what does not fit the schema. */
const checkedColumns = ({ table, rows }: TableRows, schema: Schema): string[] => {
  const rules = schema.get(table);
  if (!rules) throw refuse.invalid(`there is no table ${table}`);
  const columns = Object.keys(rows[0] ?? {});
  for (const column of columns) {
    if (!rules.has(column)) throw refuse.invalid(`${table} has no column ${column}`);
  }
  for (const [column, { isNullable, hasDefault }] of rules) {
    if (!isNullable && !hasDefault && !columns.includes(column)) throw refuse.invalid(`${table}.${column} is missing`);
  }
  for (const row of rows) {
    if (Object.keys(row).length !== columns.length) throw refuse.invalid(`rows of ${table} differ in their columns`);
    for (const column of columns) {
      const rule = rules.get(column) as ColumnRule;
      if (!Object.hasOwn(row, column)) throw refuse.invalid(`rows of ${table} differ in their columns`);
      checkValue(`${table}.${column}`, row[column], rule);
    }
  }
  return columns;
};

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Inserts rows as they are, ids included, some hundred at a time; with `skip` those that are there already stay. Throws a
 * `Refusal` (400) that names the table and column when one does not fit the schema.
 */
export const insertRows = async (
  tx: Executor,
  kind: Database['kind'],
  schema: Schema,
  { table, rows }: TableRows,
  { skip = false }: { skip?: boolean } = {},
): Promise<void> => {
  if (rows.length === 0) return;
  const columns = checkedColumns({ table, rows }, schema);
  const size = Math.max(1, Math.floor(VALUES_A_STATEMENT / columns.length));
  for (let from = 0; from < rows.length; from += size) {
    const portion: readonly Row[] = rows.slice(from, from + size);
    const values: Value[] = [];
    const tuples = portion.map((row) => {
      const marks = columns.map((column) => {
        values.push(row[column] ?? null);
        return kind === 'sqlite' ? '?' : `$${values.length}`;
      });
      return `(${marks.join(',')})`;
    });
    const into = `insert into ${quoted(table)} (${columns.map(quoted).join(',')}) values ${tuples.join(',')}`;
    await tx.executeQuery(CompiledQuery.raw(skip ? `${into} on conflict do nothing` : into, values));
  }
};
