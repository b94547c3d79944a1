import { sql } from 'kysely';
import type { Executor } from '../database/open.ts';
import { refuse } from '../errors.ts';
import { readSchema } from './insert-rows.ts';
import { KEPT_TABLES } from './tables.ts';

/** So many are left to give, of PostgreSQL's `integer`: ids go up only, whatever becomes of their rows. */
const HIGHEST_ID = 2_000_000_000;

const hex = (digits: number): string => '[0-9a-f]'.repeat(digits);
const UUID = [8, 4, 4, 4, 12].map(hex).join('-');

/**
 * Looks whether rows of a staged store, which is SQLite's, are named as we name rows: ids that leave room for others, and uuids,
 * which stand in paths and in what HAProxy is told. Throws a `Refusal` (400) that names the first that is not.
 */
export const checkIdentities = async (staged: Executor): Promise<void> => {
  const schema = await readSchema(staged);
  for (const table of KEPT_TABLES) {
    const columns = schema.get(table);
    if (columns?.has('id')) {
      const { rows } = await sql<{ least: number | null; most: number | null }>`
        select min(id) as least, max(id) as most from ${sql.table(table)}
      `.execute(staged);
      const { least, most } = rows[0] ?? {};
      if ((least ?? 1) < 1) throw refuse.invalid(`${table}.id ${least} is none that is given`);
      if ((most ?? 1) > HIGHEST_ID) throw refuse.invalid(`${table}.id ${most} leaves no room for others`);
    }
    if (columns?.has('uuid')) {
      const { rows } = await sql`select 1 from ${sql.table(table)} where uuid not glob ${UUID} limit 1`.execute(staged);
      if (rows.length > 0) throw refuse.invalid(`${table}.uuid is no UUID`);
    }
  }
};
