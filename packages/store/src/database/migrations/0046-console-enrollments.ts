import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** CrowdSec's enrolment at its console, at most one; the spec names this table. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('console_enrollments')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('machine_login', 'text', (column) => column.notNull())
    .addColumn('password_sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
};
