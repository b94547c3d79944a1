import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** What creating requests were answered, for a day: the same request gets the same answer again. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('resource', 'text')
    .addColumn('answered', 'integer', (column) => column.notNull())
    .addColumn('answer_sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('idempotency_keys_created').on('idempotency_keys').column('created_at').execute();
};
