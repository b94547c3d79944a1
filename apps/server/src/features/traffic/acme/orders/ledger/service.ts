import type { Executor } from '@sallyport/store/database/open';
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
  store: (executor: Executor) => LedgerStore;
  clock: () => Date;
}

/** Counts what is asked of authorities, and refuses what they would. */
export const createLedger = ({ db, store, clock }: LedgerDeps) => {
  const keptSince = (now: Date): string => new Date(now.getTime() - KEPT_MS).toISOString();

  /** Throws `LimitReached` when the authority would not take such an order now. */
  const check = async (account: StoredAccount, names: readonly string[], isRenewal: boolean): Promise<void> => {
    const limits = limitsOf(account.directory_url);
    if (!limits) return;
    const now = clock();
    const asked = await store(db).since(account.directory_url, keptSince(now));
    const registeredDomains = await registeredDomainsOf(names);
    checkLimits({ asked, limits, accountUrl: account.account_url ?? '', names, registeredDomains, isRenewal, now });
  };

  return {
    check,

    /** Notes an order before it is made. Throws `LimitReached` when the authority would not take it. */
    async enter(account: StoredAccount, names: readonly string[], isRenewal: boolean): Promise<LedgerEntry> {
      const { directory_url: directoryUrl, account_url } = account;
      const accountUrl = account_url ?? '';
      const now = clock();
      await check(account, names, isRenewal);
      const registeredDomains = await registeredDomainsOf(names);
      await store(db).prune(keptSince(now));
      await store(db).note(directoryUrl, { accountUrl, names, registeredDomains, isRenewal, at: now });
      return { directoryUrl, names };
    },

    /** Notes what came of it. */
    settle: (
      { directoryUrl, names }: LedgerEntry,
      outcome: 'issued' | 'failed' | 'refused',
      executor: Executor = db,
    ): Promise<void> => store(executor).settle(directoryUrl, names, outcome),
  };
};
export type Ledger = ReturnType<typeof createLedger>;
