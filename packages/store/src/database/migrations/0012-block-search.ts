import { type Kysely, sql } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

/** What blocked requests can be searched by, beside the entry that holds it as well. */
const FIELDS = ['layer', 'host', 'ip'] as const;

export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  for (const field of FIELDS) {
    await db.schema
      .alterTable('security_blocks')
      .addColumn(field, 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    const value = kind === 'sqlite' ? sql`json_extract(entry, ${`$.${field}`})` : sql`entry::json ->> ${field}::text`;
    await sql`update security_blocks set ${sql.ref(field)} = coalesce(lower(${value}), '')`.execute(db);
    await db.schema.createIndex(`security_blocks_${field}`).on('security_blocks').columns([field, 'id']).execute();
  }
};
