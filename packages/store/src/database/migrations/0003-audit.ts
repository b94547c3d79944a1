import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('audit_logs')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('timestamp', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('user_agent', 'text', (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('resource', 'text', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('audit_logs_timestamp').on('audit_logs').column('timestamp').execute();

  await db.schema
    .createTable('audit_chain')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('key_sealed', 'text', (column) => column.notNull())
    .addColumn('head_id', 'integer', (column) => column.notNull())
    .addColumn('head_hash', 'text', (column) => column.notNull())
    .addColumn('head_mac', 'text', (column) => column.notNull())
    .addColumn('anchor_id', 'integer', (column) => column.notNull())
    .addColumn('anchor_hash', 'text', (column) => column.notNull())
    .addColumn('anchor_mac', 'text', (column) => column.notNull())
    .execute();
  const unset = { key_sealed: '', head_hash: '', head_mac: '', anchor_hash: '', anchor_mac: '' };
  await db
    .insertInto('audit_chain')
    .values({ id: 1, head_id: 0, anchor_id: 0, ...unset })
    .execute();
};
