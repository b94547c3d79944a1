import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** Tables whose rows the data plane of every node follows. */
const FOLLOWED = ['proxy_hosts', 'certificates'] as const;

/** Lets PostgreSQL tell the other nodes which rows changed, when the change is committed; SQLite has one node only. */
export const up = async (db: Kysely<Tables>, kind: 'sqlite' | 'postgres'): Promise<void> => {
  if (kind === 'sqlite') return;
  await sql`
    create function sallyport_tell_nodes() returns trigger language plpgsql as $$
    begin
      perform pg_notify('sallyport_routes', tg_table_name || ' ' || coalesce(new.id, old.id));
      return null;
    end $$
  `.execute(db);
  for (const table of FOLLOWED) {
    await sql`
      create trigger sallyport_tell_nodes after insert or update or delete on ${sql.table(table)}
      for each row execute function sallyport_tell_nodes()
    `.execute(db);
  }
};
