import { randomUUID } from 'node:crypto';
import { makeCertificateKey } from '@sallyport/acme';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';
import { withStore } from '../../../../testing/with-store.ts';
import { issueLeaf, makeAuthority } from '../../internal-ca/authority.ts';
import type { StoredAccount } from '../accounts/store.ts';
import { createRenewalCheck } from './check-renewal.ts';
import { newOrderRow } from './service.ts';
import { type NewOrderRow, orderStore } from './store.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const after = (ms: number) => new Date(NOW + ms).toISOString();
const never = new AbortController().signal;

let ca: ScriptedCa;
let account: StoredAccount;
let chain_pem: string;
const vault = createVault('k'.repeat(32));
beforeAll(async () => {
  ca = await startScriptedCa();
  const uuid = randomUUID();
  const key_sealed = vault.seal(await makeCertificateKey('p256'), acmeAccountContext(uuid));
  const { name, directory_url, ca_certificate } = ca.account;
  const times = { created_at: after(0), updated_at: after(0) };
  const plain = { id: 7, uuid, name, directory_url, email: '', terms_agreed: 1, account_url: null };
  account = { ...plain, ...times, key_sealed, ca_certificate, eab_kid: null, eab_hmac_sealed: null };
  const authority = await makeAuthority('test', new Date());
  chain_pem = (await issueLeaf(authority, { names: ['a.test'], keyType: 'p256' }, new Date())).chainPem;
});
afterAll(() => ca.stop());

type More = Partial<NewOrderRow>;

/** A certificate of ninety days that was had ten days ago, whose authority is to be asked. */
const given = (
  work: (it: {
    id: number;
    check: (signal?: AbortSignal) => Promise<void>;
    row: () => ReturnType<ReturnType<typeof orderStore>['find']>;
    change: (more: More) => Promise<unknown>;
  }) => Promise<void>,
  { more = {}, isPlaceholder = 0, random = 0.5 }: { more?: More; isPlaceholder?: number; random?: number } = {},
) =>
  withStore(async ({ kysely: db }) => {
    const store = orderStore(db);
    await db
      .insertInto('acme_accounts')
      .values({ ...account })
      .execute();
    const certificate = { uuid: 'c', name: 'one', provider: 'acme', domains: '[]', chain_pem, key_sealed: '' };
    const times = { not_before: after(-10 * DAY), expires_at: after(80 * DAY), created_at: after(-10 * DAY) };
    const { id } = await db
      .insertInto('certificates')
      .values({ ...certificate, ...times, is_placeholder: isPlaceholder })
      .returning('id')
      .executeTakeFirstOrThrow();
    const how = { issuer: 'acme', key_type: 'p256', account_id: account.id, challenge: 'http-01' } as const;
    const order = newOrderRow(id, ['a.test'], how as never, { isAuto: false, now: after(50 * DAY) });
    const known = { ari_checked_until: after(-1), renew_after: after(50 * DAY), last_attempt_at: after(-10 * DAY) };
    await store.insert([{ ...order, ...known, ...more }]);
    const check = createRenewalCheck({
      ...{ db, store: orderStore, vault, clock: () => new Date(NOW), random: () => random },
      findAccount: async (wanted) => (wanted === account.id ? account : undefined),
      log: pino({ level: 'silent' }),
    });
    await work({
      id,
      check: (signal = never) => check(id, signal),
      row: () => store.find(id),
      change: (fields) => store.change(id, fields),
    });
  });

test('a window that the authority proposes says when it is renewed, at a moment within that stays', () =>
  given(async ({ check, row, change }) => {
    ca.propose(new Date(NOW + 20 * DAY), new Date(NOW + 22 * DAY));
    await check();
    const wanted = { renew_after: after(21 * DAY), next_attempt_at: after(21 * DAY) };
    expect(await row()).toMatchObject({ ...wanted, ari_checked_until: after(6 * HOUR), failures: 0 });
    // Another window that holds it changes nothing.
    ca.propose(new Date(NOW + 21 * DAY), new Date(NOW + 40 * DAY));
    await change({ ari_checked_until: after(-1) });
    await check();
    expect(await row()).toMatchObject(wanted);
    // One that is over is now.
    ca.propose(new Date(NOW - 2 * DAY), new Date(NOW - DAY));
    await change({ ari_checked_until: after(-1) });
    await check();
    expect(await row()).toMatchObject({ renew_after: after(0), next_attempt_at: after(0) });
  }));

test('a window behind the end of its lifetime is none: it is renewed by its lifetime', () =>
  given(async ({ check, row }) => {
    ca.propose(new Date(NOW + 80 * DAY), new Date(NOW + 90 * DAY));
    await check();
    // Two thirds of ninety days, and half of the twentieth sooner.
    expect((await row())?.renew_after).toBe(after((60 - 2.25 - 10) * DAY));
  }));

test('none is renewed the moment that it was had, whatever the authority proposes', () =>
  given(
    async ({ check, row }) => {
      ca.propose(new Date(NOW - 2 * DAY), new Date(NOW - DAY));
      await check();
      expect((await row())?.renew_after).toBe(after(11 * HOUR));
    },
    { more: { last_attempt_at: after(-HOUR), renew_after: null } },
  ));

test('one that failed is tried again by its back-off, not by the window', () =>
  given(
    async ({ check, row }) => {
      ca.propose(new Date(NOW + 20 * DAY), new Date(NOW + 22 * DAY));
      await check();
      expect(await row()).toMatchObject({ renew_after: after(21 * DAY), next_attempt_at: after(DAY) });
    },
    { more: { failures: 1, next_attempt_at: after(DAY) } },
  ));

test('an authority that does not say, or says what nobody understands, is asked again later', () =>
  given(async ({ check, row, change }) => {
    for (const body of ['no JSON', '{"suggestedWindow":{}}']) {
      ca.script('renewal', { body });
      await check();
      const same = { renew_after: after(50 * DAY), next_attempt_at: after(50 * DAY) };
      expect(await row(), body).toMatchObject({ ...same, ari_checked_until: after(6 * HOUR) });
      await change({ ari_checked_until: after(-1) });
    }
    ca.script('renewal', undefined);
  }));

test('what there is nobody to ask about is not asked about again', async () => {
  ca.propose(new Date(NOW + 20 * DAY), new Date(NOW + 22 * DAY));
  const cases = [{ more: { issuer: 'internal' } }, { isPlaceholder: 1 }, { more: { account_id: null } }];
  for (const how of cases) {
    await given(async ({ check, row }) => {
      await check();
      expect(await row()).toMatchObject({ ari_checked_until: null, renew_after: after(50 * DAY) });
    }, how);
  }
});

test('who gives up leaves it to be asked again at once, and two do not ask at the same time', () =>
  given(async ({ check, row, change }) => {
    const said = Promise.withResolvers<void>();
    ca.script('renewal', said.promise);
    const ending = new AbortController();
    const waiting = check(ending.signal);
    await expect.poll(() => ca.waiting('renewal')).toBe(1);
    // So long nobody else asks.
    expect((await row())?.ari_checked_until).toBe(after(10 * 60_000));
    ending.abort(new Error('the process ends'));
    await waiting;
    expect((await row())?.ari_checked_until).toBe(after(-1));

    const [one, other] = [check(), check()];
    await expect.poll(() => ca.waiting('renewal')).toBe(1);
    // What somebody asks for meanwhile stands.
    await change({ next_attempt_at: after(1) });
    said.resolve();
    await Promise.all([one, other]);
    expect(await row()).toMatchObject({ next_attempt_at: after(1), renew_after: after(50 * DAY) });
    ca.script('renewal', undefined);
  }));
