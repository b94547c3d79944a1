import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** When the emergency path was last tried and proven: one row, which counts from now on. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('emergency_drills')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('tried_at', 'text')
    .addColumn('proven_at', 'text')
    .addColumn('told_at', 'text')
    .execute();
  await db
    .insertInto('emergency_drills')
    .values({ id: 1, since: new Date().toISOString(), tried_at: null, proven_at: null, told_at: null })
    .execute();
};
