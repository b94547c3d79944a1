import type { Kysely } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

/** What every change made different, so that it can be shown and taken back. */
export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  const table = db.schema.createTable('history');
  const withId =
    kind === 'sqlite'
      ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      : table.addColumn('id', 'serial', (column) => column.primaryKey());
  await withId
    .addColumn('batch', 'text', (column) => column.notNull())
    .addColumn('resource', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('reverts', 'integer')
    .addColumn('bytes', 'integer', (column) => column.notNull())
    .addColumn('before_state', 'text')
    .addColumn('after_state', 'text')
    .addColumn('secrets_sealed', 'text')
    .execute();
  await db.schema.createIndex('history_resource').on('history').column('resource').execute();
  await db.schema.createIndex('history_batch').on('history').column('batch').execute();
};
