import { WAF_SETUP_DEFAULTS } from '@sallyport/contract';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

const TEXTS = ['waf_allowed_methods', 'waf_allowed_content_types'] as const;

/** Methods, media types and body size of the suite and of hosts; hosts with their own are special, and those that may reach our own API, so their index knows them. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  for (const name of TEXTS) {
    await db.schema.alterTable('proxy_hosts').addColumn(name, 'text').execute();
    await db.schema
      .alterTable('security_config')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(WAF_SETUP_DEFAULTS[name]))
      .execute();
  }
  await db.schema.alterTable('proxy_hosts').addColumn('waf_body_limit', 'integer').execute();
  await db.schema
    .alterTable('security_config')
    .addColumn('waf_body_limit', 'integer', (column) => column.notNull().defaultTo(WAF_SETUP_DEFAULTS.waf_body_limit))
    .execute();
  await db.schema.dropIndex('proxy_hosts_special').execute();
  await sql`
    create index proxy_hosts_special on proxy_hosts (id) where access_list_id is not null or waf_enabled = 0
      or waf_allowed_methods is not null or waf_allowed_content_types is not null or waf_body_limit is not null
      or forward_reserved = 1
  `.execute(db);
};
