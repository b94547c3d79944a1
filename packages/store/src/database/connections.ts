import { sql } from 'kysely';
import type { Database } from './open.ts';

/** How many connections others have to the PostgreSQL database of a store; always 0 for SQLite, which does not tell. */
export const countOtherConnections = async ({ kysely, kind, isOwnBackend }: Database): Promise<number> => {
  if (kind === 'sqlite') return 0;
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
  `.execute(kysely);
  return rows.filter(({ pid }) => !isOwnBackend(pid)).length;
};
