import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .alterTable('proxy_hosts')
    .addColumn('waf_inspect_responses', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
};
