import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Imports of other proxies' configuration: at most one is active. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('import_sessions')
    .addColumn('uuid', 'text', (column) => column.primaryKey())
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('source', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('files_sealed', 'text')
    .addColumn('reading_sealed', 'text')
    .addColumn('outcome', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
};
