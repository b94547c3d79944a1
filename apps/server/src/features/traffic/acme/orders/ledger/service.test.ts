import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { expect, test } from 'vitest';
import { emptyStore, onBothDatabases } from '../../../../../testing/start-app.ts';
import { withStore } from '../../../../../testing/with-store.ts';
import { DIRECTORIES } from '../../accounts/directories.ts';
import type { StoredAccount } from '../../accounts/store.ts';
import { LimitReached, limitsOf } from './limits.ts';
import { createLedger } from './service.ts';
import { ledgerStore } from './store.ts';

onBothDatabases('the ledger', (kind) => {
  test('lets no more orders pass that begin at once than the authority allows, whichever node they are of', () =>
    emptyStore(kind, async (config) => {
      // A store in SQLite has one node.
      const nodes = (kind === 'sqlite' ? [1] : [1, 2]).map(() => openDatabase(config));
      try {
        for (const node of nodes.slice(0, 1)) await migrate(node);
        const ledgers = nodes.map(({ kysely, transactAside }) =>
          createLedger({ db: kysely, transactAside, store: ledgerStore, clock: () => new Date() }),
        );
        const account = { directory_url: DIRECTORIES.letsencrypt, account_url: null } as StoredAccount;
        const entering = Array.from({ length: 6 }, () =>
          ledgers.map(({ enter }) => enter(account, ['a.example.com'], false)),
        );
        const entered = await Promise.allSettled(entering.flat());
        expect(entered.filter(({ status }) => status === 'fulfilled')).toHaveLength(
          limitsOf(account.directory_url)?.perNames ?? 0,
        );
        for (const one of entered) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(LimitReached);
        for (const { check } of ledgers)
          await expect(check(account, ['a.example.com'], false)).rejects.toThrow(LimitReached);
      } finally {
        for (const node of nodes) await node.stop();
      }
    }));
});

test('what the ledger keeps tells orders from renewals, what came to nothing and what failed, by directory', () =>
  withStore(async ({ kysely, transactAside }) => {
    let now = new Date('2026-11-22T12:00:00Z');
    const ledger = createLedger({ db: kysely, transactAside, store: ledgerStore, clock: () => now });
    const account = { directory_url: DIRECTORIES.letsencrypt, account_url: 'https://ca/1' } as StoredAccount;
    const staging = { ...account, directory_url: DIRECTORIES['letsencrypt-staging'] };
    const names = ['a.example.com', 'b.example.com'];
    const most = limitsOf(account.directory_url)?.perNames ?? 0;
    const times = async (count: number, work: () => Promise<unknown>) => {
      for (let time = 0; time < count; time += 1) await work();
    };
    // Neither renewals, nor what the authority refused, nor what another one was asked for.
    await times(most, () => ledger.enter(account, names, true));
    await times(most, async () => ledger.settle(await ledger.enter(account, names, false), 'refused'));
    await times(most, () => ledger.enter(staging, names, false));
    await ledger.check(account, names, false);
    await times(most - 1, () => ledger.enter(account, names, false));
    // Whether it was issued makes no difference, nor does the order of names.
    await ledger.settle(await ledger.enter(account, names.toReversed(), false), 'issued');
    await expect(ledger.check(account, names, false)).rejects.toThrow(LimitReached);
    await ledger.check(account, names, true);
    await ledger.check(account, names.slice(1), false);

    await times(limitsOf(account.directory_url)?.failures ?? 0, () => ledger.failed(account, names.slice(1)));
    await ledger.failed(account, []);
    await expect(ledger.check(account, names.slice(1), true)).rejects.toThrow(/validation of b\.example\.com failed/);
    await ledger.check(account, names.slice(0, 1), false);

    // A week later nothing of it counts, and a day after that nothing is kept.
    now = new Date('2026-11-29T12:00:00.001Z');
    await ledger.check(account, names, false);
    now = new Date('2026-11-30T12:00:00.001Z');
    await ledger.enter(account, ['c.example.com'], false);
    const rows = await kysely.selectFrom('order_ledger').select(['names', 'registered_domains']).execute();
    expect(rows).toEqual([{ names: 'c.example.com', registered_domains: 'example.com' }]);
  }));
