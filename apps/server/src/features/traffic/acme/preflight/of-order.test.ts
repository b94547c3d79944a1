import { makeCertificateKey } from '@sallyport/acme';
import type { NewCertificateOrder } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';
import type { StoredAccount } from '../accounts/store.ts';
import { LimitReached } from '../orders/ledger/limits.ts';
import type { PlannedOrder } from '../orders/service.ts';
import { fine } from './finding.ts';
import { createOrderPreflight, type OrderPreflightDeps } from './of-order.ts';
import type { WantedOrder } from './service.ts';

const vault = createVault('k'.repeat(32));
let ca: ScriptedCa;
let account: StoredAccount;
beforeAll(async () => {
  ca = await startScriptedCa();
  account = {
    ...{ id: 7, uuid: 'u', name: 'Scripted', email: '', terms_agreed: 1, eab_kid: null, eab_hmac_sealed: null },
    ...{ directory_url: ca.account.directory_url, ca_certificate: ca.account.ca_certificate },
    ...{ account_url: new URL('/account/1', ca.account.directory_url).href, created_at: '', updated_at: '' },
    key_sealed: vault.seal(await makeCertificateKey('p256'), acmeAccountContext('u')),
  };
});
afterAll(() => ca?.stop());

const ORDER = {} as NewCertificateOrder;

/** Looks at an order; the ways and zones that were looked at are noted. */
const given = (planned: Partial<PlannedOrder> | undefined, more: Partial<OrderPreflightDeps> = {}) => {
  const asked: unknown[] = [];
  const preflight = createOrderPreflight({
    plan: async () =>
      planned && { names: ['a.test'], challenge: 'http-01', accountId: 7, dnsProviderId: null, ...planned },
    findAccount: async (id) => (id === 7 ? account : undefined),
    vault,
    preflight: {
      async check({ directory, ...wanted }: WantedOrder) {
        asked.push({ ...wanted, ...(await directory()) });
        return { ok: true, checks: [fine('resolves', 'a.test', 'fine')] };
      },
    },
    ledger: { check: async (_account, names, isRenewal) => void asked.push({ limits: names, isRenewal }) },
    internalFault: async () => undefined,
    async tryRecord(provider, name) {
      asked.push(`${provider} ${name}`);
      return { ok: name !== 'bad.test', message: `${name} was tried` };
    },
    clock: () => new Date(),
    ...more,
  });
  return { preflight, asked };
};

test('an order of the internal authority is fine unless that can not sign', async () => {
  const { preflight, asked } = given(undefined);
  const said = 'The internal authority signs it at once: nothing is in the way.';
  expect(await preflight.check(ORDER)).toEqual({ ok: true, checks: [fine('account', '', said)] });
  expect(asked).toEqual([]);
  const fault = { what: 'The root expired', fix: 'make the next one' };
  const { preflight: broken } = given(undefined, { internalFault: async () => fault });
  expect(await broken.check(ORDER)).toMatchObject({
    ok: false,
    checks: [{ name: 'account', blocks: true, message: 'The root expired.', fix: 'To do: make the next one.' }],
  });
});

test('what is looked at before an order, the limits and the zones are told together', async () => {
  const names = ['*.a.test', 'www.a.test', 'bad.test', 'c.test'];
  const { preflight, asked } = given({ names, challenge: 'dns-01', dnsProviderId: 3 });
  const { ok, checks } = await preflight.check(ORDER);
  expect(ok).toBe(false);
  expect(checks.map(({ name, subject, ok: isFine, blocks }) => [name, subject, isFine, blocks])).toEqual([
    ['resolves', 'a.test', true, false],
    ['limits', '', true, false],
    ['zone', 'a.test', true, false],
    ['zone', 'bad.test', false, true],
  ]);
  expect(checks[2]?.message).toBe('a.test was tried.');
  expect(checks[3]?.message).toBe('The zone can not be written: bad.test was tried.');
  const { directory_url: directoryUrl, account_url: accountUrl } = account;
  expect(asked).toMatchObject([
    { names, challenge: 'dns-01', directoryUrl, accountUrl, newOrder: expect.stringMatching(/^https:/) },
    { limits: names, isRenewal: false },
    // Two zones at most.
    ...['3 a.test', '3 bad.test'],
  ]);
  const { preflight: other, asked: askedOther } = given({});
  expect((await other.check(ORDER)).ok).toBe(true);
  expect(askedOther).toHaveLength(2);
});

test('a limit that is reached is told with its end; another fault is one', async () => {
  const until = new Date('2026-05-02T12:00:00.000Z');
  const { preflight } = given(
    {},
    { ledger: { check: () => Promise.reject(new LimitReached('Five were ordered', until)) } },
  );
  const { ok, checks } = await preflight.check(ORDER);
  expect(ok).toBe(false);
  expect(checks.at(-1)).toMatchObject({
    ...{ name: 'limits', message: 'Five were ordered.', blocks: true },
    fix: 'Wait until 2026-05-02T12:00:00.000Z, order for fewer names, or of another authority.',
  });
  const { preflight: broken } = given({}, { ledger: { check: () => Promise.reject(new Error('no store')) } });
  await expect(broken.check(ORDER)).rejects.toThrow('no store');
});

test('an account that is gone, or whose key is, orders nothing', async () => {
  await expect(given({ accountId: 8 }).preflight.check(ORDER)).rejects.toMatchObject({ status: 400 });
  const lost = { ...account, key_sealed: 'v1.lost' };
  const { preflight, asked } = given({}, { findAccount: async () => lost });
  expect(await preflight.check(ORDER)).toMatchObject({
    ok: false,
    checks: [
      { name: 'account', blocks: true, message: expect.stringMatching(/^The key of the ACME account Scripted/) },
    ],
  });
  expect(asked).toEqual([]);
  const broken = given({}, { findAccount: () => Promise.reject(new Error('no store')) });
  await expect(broken.preflight.check(ORDER)).rejects.toThrow('no store');
});

test('four orders are looked at at once, and the next when one is done, whatever came of it', async () => {
  const held = Promise.withResolvers<void>();
  const { preflight } = given(undefined, {
    plan: async () => {
      await held.promise;
      throw refuse.invalid('names is required');
    },
  });
  const four = Array.from({ length: 4 }, () => preflight.check(ORDER));
  await expect(preflight.check(ORDER)).rejects.toMatchObject({ status: 409 });
  held.resolve();
  for (const { status } of await Promise.allSettled(four)) expect(status).toBe('rejected');
  await expect(preflight.check(ORDER)).rejects.toMatchObject({ status: 400 });
});
