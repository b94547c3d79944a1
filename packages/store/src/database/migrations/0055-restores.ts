import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Row 2 of the counters: how often the store was put back to an earlier state, so that every node notices. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.insertInto('revisions').values({ id: 2, revision: 0 }).execute();
};
