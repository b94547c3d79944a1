import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { expect, test } from 'vitest';
import { emptyStore, onBothDatabases } from '../../../../../testing/start-app.ts';
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
