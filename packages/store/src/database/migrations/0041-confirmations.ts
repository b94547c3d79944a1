import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Changes that go back by themselves unless they are confirmed in time. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('confirmations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('way', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('reverts_at', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('issue', 'text')
    .execute();
};
