import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** Few hosts have an access list or go without the firewall; with every change of routes all of these are read. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema.dropIndex('proxy_hosts_waf').execute();
  await sql`
    create index proxy_hosts_special on proxy_hosts (id) where access_list_id is not null or waf_enabled = 0
  `.execute(db);
};
