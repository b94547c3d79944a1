import type { IdempotencyKeyRow } from '@sallyport/store/database/idempotency-tables';
import type { Executor } from '@sallyport/store/database/open';

export const idempotencyStore = (db: Executor) => ({
  /** Adds a row; false when there is one. */
  async insert(row: IdempotencyKeyRow): Promise<boolean> {
    const inserted = await db
      .insertInto('idempotency_keys')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    return inserted !== undefined;
  },

  async find(id: string): Promise<IdempotencyKeyRow | undefined> {
    return db.selectFrom('idempotency_keys').selectAll().where('id', '=', id).executeTakeFirst();
  },

  /** Makes `owner` the one that answers, if it is still unanswered, nothing was made, and `before` was the one. */
  async takeOver(id: string, before: string, owner: string, now: string): Promise<boolean> {
    const taken = await db
      .updateTable('idempotency_keys')
      .set({ owner, created_at: now })
      .where('id', '=', id)
      .where('owner', '=', before)
      .where('answered', '=', 0)
      .where('resource', 'is', null)
      .returning('id')
      .executeTakeFirst();
    return taken !== undefined;
  },

  /** Notes what was made, in the transaction that makes it; the first thing counts. */
  async noteMade(id: string, resource: string): Promise<void> {
    const query = db.updateTable('idempotency_keys').set({ resource }).where('id', '=', id);
    await query.where('resource', 'is', null).execute();
  },

  async answer(id: string, answer_sealed: string): Promise<void> {
    await db.updateTable('idempotency_keys').set({ answered: 1, answer_sealed }).where('id', '=', id).execute();
  },

  /** Forgets a request that made nothing. */
  async forget(id: string): Promise<void> {
    await db.deleteFrom('idempotency_keys').where('id', '=', id).where('resource', 'is', null).execute();
  },

  /** Forgets every request that was not answered and made nothing. */
  async forgetUnanswered(): Promise<void> {
    await db.deleteFrom('idempotency_keys').where('answered', '=', 0).where('resource', 'is', null).execute();
  },

  async forgetBefore(moment: string): Promise<void> {
    await db.deleteFrom('idempotency_keys').where('created_at', '<', moment).execute();
  },
});
export type IdempotencyStore = ReturnType<typeof idempotencyStore>;
