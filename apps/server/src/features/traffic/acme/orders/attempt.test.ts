import { randomUUID } from 'node:crypto';
import { makeCertificateKey } from '@sallyport/acme';
import type { CertificateStep } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { withStore } from '../../../../testing/with-store.ts';
import { versionOf } from '../../certificates/source.ts';
import type { StoredAccount } from '../accounts/store.ts';
import type { AcmeAttempt } from './acme-attempt.ts';
import { type AttemptDeps, ClaimLost, createAttempt } from './attempt.ts';
import { CannotOrder } from './failure.ts';
import { createLedger } from './ledger/service.ts';
import { ledgerStore } from './ledger/store.ts';
import type { Outcome } from './outcome.ts';
import { newOrderRow } from './service.ts';
import { orderStore } from './store.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const after = (ms: number) => new Date(NOW + ms).toISOString();
const PAIR = { chainPem: 'the new chain', keyPem: 'the new key' };
const vault = createVault('k'.repeat(32));
let account: StoredAccount;
beforeAll(async () => {
  const uuid = randomUUID();
  const key_sealed = vault.seal(await makeCertificateKey('p256'), acmeAccountContext(uuid));
  const plain = { id: 7, uuid, name: 'one', directory_url: 'https://ca.test/directory', email: '', terms_agreed: 1 };
  const none = { account_url: null, ca_certificate: null, eab_kid: null, eab_hmac_sealed: null };
  account = { ...plain, ...none, key_sealed, created_at: after(0), updated_at: after(0) };
});

const CLAIM = { token: 'node/1', signal: new AbortController().signal };

/** An order that is claimed, with what is had and what becomes of it. */
const makeGiven = async (database: Parameters<Parameters<typeof withStore>[0]>[0], issuer: 'internal' | 'acme') => {
  const { kysely: db, transact, transactAside } = database;
  const clock = () => new Date(NOW);
  const store = orderStore(db);
  await db
    .insertInto('acme_accounts')
    .values({ ...account })
    .execute();
  const certificate = { uuid: randomUUID(), name: 'shop', provider: issuer, domains: 'a.test', key_sealed: '' };
  const times = { not_before: after(-60 * DAY), expires_at: after(30 * DAY), created_at: after(-60 * DAY) };
  const { id } = await db
    .insertInto('certificates')
    .values({ ...certificate, ...times, chain_pem: 'the old chain' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const how = issuer === 'acme' ? { account_id: account.id, challenge: 'http-01' } : {};
  const order = newOrderRow(id, ['a.test', 'b.test'], { issuer, key_type: 'p256', ...how } as never, {
    ...{ isAuto: false, now: after(-1) },
  });
  await store.insert([{ ...order, leased_by: CLAIM.token, leased_until: after(60_000), failures: 2, issue: 'before' }]);

  const noted = { stepped: [] as [string, string][], ended: [] as Outcome[], synced: [] as number[][], lines: '' };
  const state: { applied: boolean; issue: string | null; onReplace: () => Promise<unknown> } = {
    ...{ applied: true, issue: null, onReplace: async () => undefined },
  };
  const replace = async (tx: Executor, one: number, pair: { chainPem: string }) => {
    await state.onReplace();
    const fields = { chain_pem: pair.chainPem, not_before: after(0), expires_at: after(90 * DAY), is_placeholder: 0 };
    return tx.updateTable('certificates').set(fields).where('id', '=', one).returningAll().executeTakeFirstOrThrow();
  };
  const run = (more: Partial<AttemptDeps> = {}, claim: Partial<typeof CLAIM> = {}) =>
    createAttempt({
      ...{ db, transact, transactAside, store: orderStore, vault, clock, random: () => 0, replace },
      ledger: createLedger({ db, transactAside, store: ledgerStore, clock }),
      findAccount: async (one) => (one === account.id ? account : undefined),
      issueInternally: async () => PAIR,
      acmeOrder: async () => PAIR,
      plane: {
        async syncCertificates(ids = []) {
          noted.synced.push([...ids]);
        },
        certificateState: (_id, version) => ({
          applied: state.applied && version === versionOf({ chain_pem: PAIR.chainPem, revoked_at: null }),
          issue: state.issue,
        }),
      } as AttemptDeps['plane'],
      stepped: (_row, { name, status }: CertificateStep) => void noted.stepped.push([name, status]),
      ended: (outcome) => void noted.ended.push(outcome),
      log: pino(
        { level: 'info' },
        {
          write(line: string) {
            noted.lines += line;
          },
        },
      ),
      ...more,
    })({ id, ...CLAIM, ...claim });
  const row = async () => {
    const found = await store.find(id);
    if (!found) throw new Error('it is gone');
    return { ...found, steps: JSON.parse(found.steps) as CertificateStep[] };
  };
  const outcomes = async () =>
    (await db.selectFrom('order_ledger').select('outcome').orderBy('id').execute()).map(({ outcome }) => outcome);
  return { id, db, store, run, row, noted, state, outcomes };
};

const given = (issuer: 'internal' | 'acme', work: (it: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async (database) => work(await makeGiven(database, issuer)));

const FREE = { leased_by: '', leased_until: '' };

test('what the internal authority signs is in its place, served, and due again before it ends', () =>
  given('internal', async ({ id, run, row, noted, outcomes }) => {
    const asked: unknown[] = [];
    await run({
      async issueInternally(request) {
        asked.push(request);
        return PAIR;
      },
    });
    expect(asked).toEqual([{ names: ['a.test', 'b.test'], keyType: 'p256' }]);
    const now = await row();
    expect(now).toMatchObject({
      ...{ ...FREE, chain_pem: PAIR.chainPem, failures: 0, issue: null, problem: null, last_attempt_at: after(0) },
      ...{ next_attempt_at: after(60 * DAY), renew_after: after(60 * DAY), ari_checked_until: null },
    });
    expect(now.steps.map(({ name, status }) => [name, status])).toEqual([
      ['issue', 'done'],
      ['install', 'done'],
    ]);
    expect(now.steps[1]?.message).toBe(`The proxy serves it; it expires on ${after(90 * DAY)}.`);
    expect(noted.stepped).toEqual([
      ['issue', 'running'],
      ['install', 'running'],
      ['install', 'done'],
    ]);
    expect(noted.synced).toEqual([[id]]);
    expect(noted.ended).toMatchObject([{ result: 'renewed', certificate: { chain_pem: PAIR.chainPem } }]);
    expect(await outcomes()).toEqual([]);
  }));

test('the first one is told as issued; another root that took over meanwhile has it signed anew', () =>
  given('internal', async ({ id, db, store, run, row, noted }) => {
    await db.updateTable('certificates').set({ is_placeholder: 1 }).execute();
    await run({
      async issueInternally() {
        await store.change(id, { next_attempt_at: after(1) });
        return PAIR;
      },
    });
    expect((await row()).next_attempt_at).toBe(after(1));
    expect(noted.ended).toMatchObject([{ result: 'issued' }]);
  }));

test('what the proxy lacks is stored all the same, and said', () =>
  given('internal', async ({ run, row, noted, state }) => {
    Object.assign(state, { applied: false, issue: 'HAProxy is away' });
    await run();
    const { steps, failures, chain_pem } = await row();
    expect([failures, chain_pem]).toEqual([0, PAIR.chainPem]);
    expect(steps[1]).toMatchObject({ status: 'failed' });
    expect(steps[1]?.message).toBe('It is stored, but the proxy lacks it yet: HAProxy is away');
    expect(noted.ended).toMatchObject([{ result: 'renewed' }]);
  }));

test('with an authority all is kept that is needed to go on, the key sealed, and nothing once it is there', () =>
  given('acme', async ({ run, row, outcomes, db }) => {
    const first = { url: 'https://ca.test/order/1', keyPem: 'key of the order' };
    const seen: AcmeAttempt['underWay'][] = [];
    const ordering: AttemptDeps['acmeOrder'] = async ({ keep, underWay, row: { names } }) => {
      seen.push(underWay);
      if (underWay) return PAIR;
      await ledgerOf(names);
      await keep(first);
      throw new TypeError('a fault');
    };
    const ledgerOf = async (names: string) => {
      const ledger = createLedger({
        ...{ db, store: ledgerStore, clock: () => new Date(NOW) },
        transactAside: (work) => db.transaction().execute(work),
      });
      await ledger.enter(account, names.split(','), false);
    };
    await run({ acmeOrder: ordering });
    const failed = await row();
    expect(failed).toMatchObject({ ...FREE, order_url: first.url, failures: 3, chain_pem: 'the old chain' });
    expect(failed.order_key_sealed).toMatch(/^v1\./);
    expect(failed.order_key_sealed).not.toContain('key of the order');
    await db.updateTable('certificate_orders').set({ leased_by: CLAIM.token }).execute();
    await run({ acmeOrder: ordering });
    expect(seen).toEqual([undefined, first]);
    expect(await row()).toMatchObject({ order_url: null, order_key_sealed: null, ari_checked_until: after(0) });
    expect(await outcomes()).toEqual(['issued']);
  }));

test('an order whose key is lost is begun anew', () =>
  given('acme', async ({ run, db }) => {
    const order_key_sealed = createVault('other '.repeat(8)).seal('key', 'context');
    await db
      .updateTable('certificate_orders')
      .set({ order_url: 'https://ca.test/order/1', order_key_sealed })
      .execute();
    const seen: unknown[] = [];
    await run({
      async acmeOrder({ underWay }) {
        seen.push(underWay);
        return PAIR;
      },
    });
    expect(seen).toEqual([undefined]);
  }));

test('a failure is told with what to do and when it is tried again; what was there stays', () =>
  given('acme', async ({ run, row, noted }) => {
    const issue = 'The account it is ordered with is gone: order it anew with another one';
    await run({ findAccount: async () => undefined });
    const now = await row();
    // The third in a row.
    const wanted = { failures: 3, issue, last_attempt_at: after(0), next_attempt_at: after(HOUR) };
    expect(now).toMatchObject({ ...FREE, ...wanted, chain_pem: 'the old chain' });
    expect(now.steps.filter(({ status }) => status === 'failed')).toMatchObject([{ message: issue }]);
    expect(noted.stepped.map(([, status]) => status)).toEqual(['failed']);
    expect(noted.ended).toMatchObject([{ result: 'failed', issue, failures: 3, nextAt: new Date(NOW + HOUR) }]);
    expect(noted.synced).toEqual([]);
  }));

test('for other names that were asked for meanwhile a failure is none', () =>
  given('acme', async ({ id, store, run, row, noted }) => {
    await run({
      async acmeOrder({ keep }) {
        await keep({ url: 'https://ca.test/order/1', keyPem: 'key' });
        await store.change(id, { names: 'c.test', next_attempt_at: after(2) });
        throw new CannotOrder('no');
      },
    });
    expect(await row()).toMatchObject({ ...FREE, failures: 2, order_url: null, order_key_sealed: null });
    expect((await row()).next_attempt_at).toBe(after(2));
    expect(noted.ended).toEqual([]);
    expect(noted.lines).toContain('a certificate is ordered for other names now');
  }));

test('who lost the claim stores nothing, whenever that is', () =>
  given('acme', async ({ id, store, run, row, noted, state, db }) => {
    const others = { leased_by: 'other/1', leased_until: after(60_000) };
    const lose = () => store.change(id, others);
    const same = { ...others, failures: 2, chain_pem: 'the old chain', order_url: null };
    const again = () => db.updateTable('certificate_orders').set({ leased_by: CLAIM.token }).execute();
    for (const acmeOrder of [
      async ({ keep }: AcmeAttempt) => {
        await lose();
        await keep({ url: 'https://ca.test/order/1', keyPem: 'key' });
        return PAIR;
      },
      async ({ steps }: AcmeAttempt) => {
        await lose();
        await steps.enter('order', 'next');
        return PAIR;
      },
      async () => {
        await lose();
        return PAIR;
      },
      async () => {
        await lose();
        throw new CannotOrder('no');
      },
    ]) {
      await run({ acmeOrder });
      expect(await row()).toMatchObject(same);
      await again();
    }
    // Told by its own beat.
    const ending = new AbortController();
    ending.abort(new ClaimLost());
    await run({ acmeOrder: () => Promise.reject(new Error('aborted')) }, { signal: ending.signal });
    expect(await row()).toMatchObject({ failures: 2, leased_by: CLAIM.token });
    expect(noted.ended).toEqual([]);
    expect(state.applied).toBe(true);
    await store.change(id, FREE);
    await run({}, { token: 'node/2' });
    expect((await row()).chain_pem).toBe('the old chain');
  }));

test('an end of the process is no failure: the next one takes it up at once', () =>
  given('acme', async ({ run, row, noted }) => {
    const ending = new AbortController();
    await run(
      {
        async acmeOrder() {
          ending.abort(new Error('the process ends'));
          throw new Error('aborted');
        },
      },
      { signal: ending.signal },
    );
    expect(await row()).toMatchObject({ ...FREE, failures: 2, next_attempt_at: after(-1) });
    expect(noted.ended).toEqual([]);
  }));
