import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Hosts that were there may forward to the management API, as those that show it to the outside do; they go on. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .alterTable('proxy_hosts')
    .addColumn('forward_reserved', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db
    .updateTable('proxy_hosts')
    .set({ forward_reserved: 1 })
    .where((eb) => eb.or([eb('forward_host', 'in', ['localhost', '::1']), eb('forward_host', 'like', '127.%')]))
    .execute();
};
