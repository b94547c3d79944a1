import { type Kysely, sql } from 'kysely';
import * as routes from './migrations/0001-routes.ts';
import type { Database } from './open.ts';
import type { Tables } from './tables.ts';

/** One step forward. There is no way back: a backup is. */
export interface Migration {
  up(db: Kysely<Tables>, kind: Database['kind']): Promise<void>;
}

/** In order; a released one never changes. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-routes': routes,
};

interface MigrationTables {
  schema_migrations: { name: string; applied_at: string };
}

/**
 * Brings the schema up to date, in one transaction and under a lock, so that processes that start together don't
 * collide. Returns the names of the steps it took; an empty list means that there was nothing to do.
 */
export const migrate = async ({ kysely, kind }: Pick<Database, 'kysely' | 'kind'>): Promise<string[]> => {
  const db = kysely as unknown as Kysely<MigrationTables>;
  await sql`create table if not exists schema_migrations (name text primary key, applied_at text not null)`
    .execute(db)
    .catch(ignoreConcurrentCreate);
  return db.transaction().execute(async (tx) => {
    if (kind === 'postgres') await sql`lock table schema_migrations in exclusive mode`.execute(tx);
    // A write that changes nothing takes SQLite's lock before the first read.
    else await sql`delete from schema_migrations where name = ''`.execute(tx);
    const rows = await tx.selectFrom('schema_migrations').select('name').execute();
    const done = new Set(rows.map((row) => row.name));
    const pending = Object.entries(MIGRATIONS).filter(([name]) => !done.has(name));
    for (const [name, migration] of pending) {
      await migration.up(tx as unknown as Kysely<Tables>, kind);
      await tx.insertInto('schema_migrations').values({ name, applied_at: new Date().toISOString() }).execute();
    }
    return pending.map(([name]) => name);
  });
};

/** PostgreSQL's IF NOT EXISTS is not atomic: of two that create at once one fails, and the table is there all the same. */
const ignoreConcurrentCreate = (error: unknown): undefined => {
  const code = (error as { code?: string }).code;
  if (code !== '23505' && code !== '42P07') throw error;
  return undefined;
};
