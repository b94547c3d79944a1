import { sql } from 'kysely';
import type { Executor } from './open.ts';

/** Runs `work` in a transaction so that, when it fails, the transaction goes on as if it had not been begun. Rejects like it. */
export const withSavepoint = async <T>(tx: Executor, work: () => Promise<T>): Promise<T> => {
  await sql`savepoint attempt`.execute(tx);
  try {
    const result = await work();
    await sql`release savepoint attempt`.execute(tx);
    return result;
  } catch (error) {
    await sql`rollback to savepoint attempt`.execute(tx);
    await sql`release savepoint attempt`.execute(tx);
    throw error;
  }
};
