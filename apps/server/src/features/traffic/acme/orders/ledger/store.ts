import type { Executor } from '@sallyport/store/database/open';
import type { Asked } from './limits.ts';

/** What was asked of authorities. */
export const ledgerStore = (db: Executor) => ({
  /** What was asked of a directory since then. */
  async since(directoryUrl: string, time: string): Promise<Asked[]> {
    const rows = await db
      .selectFrom('order_ledger')
      .selectAll()
      .where('directory_url', '=', directoryUrl)
      .where('ordered_at', '>', time)
      .execute();
    return rows.map((row) => ({
      accountUrl: row.account_url,
      names: row.names.split(','),
      registeredDomains: row.registered_domains.split(','),
      isRenewal: row.is_renewal === 1,
      outcome: row.outcome as Asked['outcome'],
      at: new Date(row.ordered_at),
    }));
  },

  /** Notes an order that is about to be made, or validations that failed. */
  async note(
    directoryUrl: string,
    { accountUrl, names, registeredDomains, isRenewal, outcome, at }: Asked,
  ): Promise<void> {
    await db
      .insertInto('order_ledger')
      .values({
        directory_url: directoryUrl,
        account_url: accountUrl,
        names: [...names].sort().join(','),
        registered_domains: registeredDomains.join(','),
        is_renewal: isRenewal ? 1 : 0,
        outcome,
        ordered_at: at.toISOString(),
      })
      .execute();
  },

  /** Tells what came of the newest order for exactly these names that nothing is known of yet. */
  async settle(directoryUrl: string, names: readonly string[], outcome: Asked['outcome']): Promise<void> {
    const newest = await db
      .selectFrom('order_ledger')
      .select('id')
      .where('directory_url', '=', directoryUrl)
      .where('names', '=', [...names].sort().join(','))
      .where('outcome', '=', 'ordered')
      .orderBy('id', 'desc')
      .executeTakeFirst();
    if (newest) await db.updateTable('order_ledger').set({ outcome }).where('id', '=', newest.id).execute();
  },

  /** Forgets what counts no more. */
  async prune(before: string): Promise<void> {
    await db.deleteFrom('order_ledger').where('ordered_at', '<', before).execute();
  },
});
export type LedgerStore = ReturnType<typeof ledgerStore>;
