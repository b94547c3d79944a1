import type { Executor } from '@sallyport/store/database/open';
import type { Tables } from '@sallyport/store/database/tables';
import { refuse } from '@sallyport/store/errors';
import { type Row, readTables } from '@sallyport/store/snapshot/read-tables';

/** A schema of an object, as the contract has them. */
interface ObjectSchema {
  properties: object;
}

type Properties = Readonly<Record<string, { type?: string }>>;

/** Flags are 0 or 1 in the store, lists and objects their JSON. */
const shownValue = (type: string | undefined, value: Row[string]): unknown => {
  if (type === 'boolean' && (value === 0 || value === 1)) return value === 1;
  return type === 'array' || type === 'object' ? JSON.parse(String(value)) : value;
};

/**
 * Makes the check whether rows of a store are what the API could answer with by `schema`, as far as the columns have its names.
 * Resolves with the row as it would be shown. Throws an `Error` that names the field.
 */
export const createRowCheck = ({ properties }: ObjectSchema) => {
  const known = properties as Properties;
  const compile = async (row: Row) => {
    const names = Object.keys(row).filter((name) => Object.hasOwn(known, name));
    const shape = Object.fromEntries(names.map((name) => [name, known[name]]));
    // Needed now and then only: it would lie in memory.
    const { Compile } = await import('typebox/compile');
    const validator = Compile({ type: 'object', required: names, properties: shape });
    return { names, validator };
  };
  let compiled: ReturnType<typeof compile> | undefined;

  return async (row: Row): Promise<Record<string, unknown>> => {
    compiled ??= compile(row);
    const { names, validator } = await compiled;
    const shown = Object.fromEntries(names.map((name) => [name, shownValue(known[name]?.type, row[name] ?? null)]));
    if (!validator.Check(shown)) {
      const [problem] = validator.Errors(shown);
      throw new Error(`${problem?.instancePath.slice(1)} ${problem?.message}`);
    }
    return shown;
  };
};

/** Throws an `Error` unless a field is as the API would have stored it. */
export const checkWritten = (field: string, stored: unknown, written: unknown): void => {
  if (stored !== written) throw new Error(`${field} is not as it is stored`);
};

/** Has `look` look at each row of a table. Throws a `Refusal` (400) with what it throws, in words that say `what` the row is. */
export const checkEach = async (
  db: Executor,
  table: keyof Tables,
  what: (row: Row) => string,
  look: (row: Row) => unknown,
): Promise<void> => {
  for await (const { rows } of readTables(db, [table])) {
    for (const row of rows) {
      try {
        await look(row);
      } catch (error) {
        throw refuse.invalid(`${what(row)}: ${(error as Error).message}`);
      }
    }
  }
};
