import type { Kysely } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

/** Which presets of CrowdSec were applied and taken back; the spec names this table. */
export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  const table = db.schema.createTable('preset_events');
  const withId =
    kind === 'sqlite'
      ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      : table.addColumn('id', 'serial', (column) => column.primaryKey());
  await withId
    .addColumn('preset', 'text', (column) => column.notNull())
    .addColumn('applied', 'integer', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
};
