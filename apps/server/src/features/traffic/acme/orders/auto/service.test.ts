import { randomUUID } from 'node:crypto';
import type { Database } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../../../../test/support/eventually.ts';
import { withStore } from '../../../../../testing/with-store.ts';
import type { StoredCertificate } from '../../../certificates/store.ts';
import { orderStore } from '../store.ts';
import type { AutoHost } from './plan.ts';
import { type AutoDeps, createAuto } from './service.ts';
import { autoStore } from './store.ts';

const NOW = new Date('2026-11-22T12:00:00.000Z');

/** Looks after these hosts, in a store with nothing in it; there is no account. */
const given = ({ kysely: db, transact }: Database, hosts: () => Promise<AutoHost[]>) => {
  const synced: number[] = [];
  let nudges = 0;
  const certificates: AutoDeps['certificates'] = {
    makeStandIn: async (names) => ({ names: [...names] }) as never,
    within: {
      async createPlaceholder(tx: typeof db, { name, provider }: { name: string; provider: string }) {
        const times = { not_before: NOW.toISOString(), expires_at: NOW.toISOString(), created_at: NOW.toISOString() };
        const row = { uuid: randomUUID(), name, provider, domains: name, chain_pem: '', key_sealed: '' };
        const values = { ...row, ...times, is_placeholder: 1 };
        const { id } = await tx.insertInto('certificates').values(values).returning('id').executeTakeFirstOrThrow();
        return { id } as StoredCertificate;
      },
    } as unknown as AutoDeps['certificates']['within'],
  };
  const auto = createAuto({
    ...{ db, transact, orders: orderStore, certificates },
    store: (executor) => ({ ...autoStore(executor), hosts }),
    accounts: { resolve: () => Promise.reject(refuse.invalid('there is no account')) },
    findProviderByName: async () => undefined,
    defaults: async () => ({ account: '', dnsProvider: '' }),
    syncCertificates: async (ids) => void synced.push(...ids),
    nudge: () => {
      nudges += 1;
    },
    clock: () => NOW,
    log: pino({ level: 'silent' }),
  });
  const orders = () => db.selectFrom('certificate_orders').selectAll().orderBy('certificate_id').execute();
  return { auto, synced, orders, nudges: () => nudges };
};

test('what our own authority can give is ordered at once; what takes an account waits for one', () =>
  withStore(async (database) => {
    const hosts = [
      { id: 1, names: ['a.example.com', 'nas.lan'] },
      { id: 2, names: ['printer.lan'] },
    ];
    const { auto, synced, orders, nudges } = given(database, async () => hosts);
    const looking = auto.start();
    await eventually(() => synced.length).toBe(2);
    await looking.stop();
    const rows = await orders();
    expect(synced).toEqual(rows.map(({ certificate_id }) => certificate_id));
    const ordered = { issuer: 'internal', key_type: 'p256', is_auto: 1, account_id: null };
    expect(rows).toMatchObject([
      { ...ordered, names: 'nas.lan', next_attempt_at: NOW.toISOString() },
      { ...ordered, names: 'printer.lan' },
    ]);
    expect(nudges()).toBeGreaterThan(0);
    expect(await auto.warningsOf([{ id: 1, names: ['a.example.com'] }])).toEqual(
      new Map([[1, ['there is no account']]]),
    );

    // Worth renewing while some host has one of its names.
    const [row] = await Promise.all(
      rows.slice(0, 1).map(({ certificate_id }) => orderStore(database.kysely).find(certificate_id)),
    );
    if (!row) throw new Error('there is no order');
    expect(await auto.isWanted({ ...row, is_auto: 0 })).toBe(true);
    expect(await auto.isWanted(row)).toBe(false);
  }));

test('who asks while it is looked gets another look, for what was read may be older', () =>
  withStore(async (database) => {
    const hosts = [{ id: 1, names: ['nas.lan'] }];
    const hasRead = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { auto, synced, orders } = given(database, async () => {
      const seen = [...hosts];
      hasRead.resolve();
      await goOn.promise;
      return seen;
    });
    const looking = auto.start();
    await hasRead.promise;
    hosts.push({ id: 2, names: ['printer.lan'] });
    const again = auto.start();
    goOn.resolve();
    await eventually(() => synced.length).toBe(2);
    await Promise.all([looking.stop(), again.stop()]);
    expect((await orders()).map(({ names }) => names)).toEqual(['nas.lan', 'printer.lan']);
  }));
