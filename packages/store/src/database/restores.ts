import { sql } from 'kysely';
import type { Executor } from './open.ts';

/** See migration 0055. */
const RESTORES = 2;

/** How often this store was put back to an earlier state. */
export const countRestores = async (db: Executor): Promise<number> => {
  const row = await db.selectFrom('revisions').select('revision').where('id', '=', RESTORES).executeTakeFirst();
  return Number(row?.revision ?? 0);
};

/** Tells every node of the store that it was put back, in the transaction that does it. */
export const noteRestore = async (tx: Executor): Promise<void> => {
  await tx.updateTable('revisions').set({ revision: sql<number>`revision + 1` }).where('id', '=', RESTORES).execute();
};
