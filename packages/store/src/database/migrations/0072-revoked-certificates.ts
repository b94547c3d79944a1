import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** When a certificate was revoked; and orders that fail, by which it is told in one look whether any other one does since. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema.alterTable('certificates').addColumn('revoked_at', 'text').execute();
  await sql`create index certificate_orders_failing on certificate_orders (updated_at, failures) where issue is not null`.execute(
    db,
  );
};
