import type { Executor, TransactAside } from '@sallyport/store/database/open';
import type { StoredAccount } from '../../accounts/store.ts';
import { checkLimits, limitsOf, registeredDomainsOf } from './limits.ts';
import type { LedgerStore } from './store.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 8 * DAY_MS;

/** An order in the ledger. */
export interface LedgerEntry {
  directoryUrl: string;
  names: readonly string[];
}

export interface LedgerDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => LedgerStore;
  clock: () => Date;
}

/** Counts what is asked of authorities, and refuses what they would. */
export const createLedger = ({ db, transactAside, store, clock }: LedgerDeps) => {
  const keptSince = (now: Date): string => new Date(now.getTime() - KEPT_MS).toISOString();

  const orderOf = async (account: StoredAccount, names: readonly string[], isRenewal: boolean) => ({
    ...{ accountUrl: account.account_url ?? '', names, isRenewal },
    registeredDomains: await registeredDomainsOf(names),
  });

  const checkIn = async (
    executor: Executor,
    directoryUrl: string,
    order: Awaited<ReturnType<typeof orderOf>>,
    now: Date,
  ): Promise<void> => {
    const limits = limitsOf(directoryUrl);
    if (!limits) return;
    const asked = await store(executor).since(directoryUrl, keptSince(now));
    checkLimits({ asked, limits, now, ...order });
  };

  return {
    /** Throws `LimitReached` when the authority would not take such an order now. */
    async check(account: StoredAccount, names: readonly string[], isRenewal: boolean): Promise<void> {
      await checkIn(db, account.directory_url, await orderOf(account, names, isRenewal), clock());
    },

    /** Notes an order before it is made. Throws `LimitReached` when the authority would not take it. */
    async enter(account: StoredAccount, names: readonly string[], isRenewal: boolean): Promise<LedgerEntry> {
      const { directory_url: directoryUrl } = account;
      const order = await orderOf(account, names, isRenewal);
      // Of orders that begin at once, on all nodes, each counts those before it.
      await transactAside(async (tx) => {
        const now = clock();
        await checkIn(tx, directoryUrl, order, now);
        await store(tx).prune(keptSince(now));
        await store(tx).note(directoryUrl, { ...order, outcome: 'ordered', at: now });
      });
      return { directoryUrl, names };
    },

    /** Notes what came of it: `refused` when no certificate does. */
    settle: (
      { directoryUrl, names }: LedgerEntry,
      outcome: 'issued' | 'refused',
      executor: Executor = db,
    ): Promise<void> => store(executor).settle(directoryUrl, names, outcome),

    /** Notes that the authority called the authorizations of these names invalid: those alone, whatever else was ordered with them. */
    async failed({ directory_url, account_url }: StoredAccount, names: readonly string[]): Promise<void> {
      if (names.length === 0) return;
      const failure = { accountUrl: account_url ?? '', names, registeredDomains: [], isRenewal: false, at: clock() };
      await store(db).note(directory_url, { ...failure, outcome: 'failed' });
    },
  };
};
export type Ledger = ReturnType<typeof createLedger>;
