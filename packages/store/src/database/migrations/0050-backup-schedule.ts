import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** When the last scheduled backup was made, and who is at the next one: one row for all nodes. Nothing was made yet. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('backup_schedule')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('made_at', 'text', (column) => column.notNull())
    .addColumn('leased_until', 'text', (column) => column.notNull())
    .execute();
  await db.insertInto('backup_schedule').values({ id: 1, made_at: '', leased_until: '' }).execute();
};
