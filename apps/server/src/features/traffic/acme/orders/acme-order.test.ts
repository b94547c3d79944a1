import { type AcmeTransport, ariCertificateId, createAcmeClient, makeCertificateKey } from '@sallyport/acme';
import type { PreflightCheck } from '@sallyport/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openAcmeTransport } from '../../../../net/acme-transport.ts';
import { type ScriptedAnswer, type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';
import { withStore } from '../../../../testing/with-store.ts';
import type { StoredAccount } from '../accounts/store.ts';
import type { AcmePreflight } from '../preflight/service.ts';
import type { UnderWay } from './acme-attempt.ts';
import { createAcmeOrder, predecessorOf } from './acme-order.ts';
import { createLedger } from './ledger/service.ts';
import { ledgerStore } from './ledger/store.ts';
import { ACME_STEPS, createSteps } from './steps.ts';
import type { OrderWithSubject } from './store.ts';

let ca: ScriptedCa;
let transport: Awaited<ReturnType<typeof openAcmeTransport>>;
let accountKey: string;
beforeAll(async () => {
  ca = await startScriptedCa();
  transport = await openAcmeTransport({ caCertificate: ca.account.ca_certificate });
  accountKey = await makeCertificateKey('p256');
});
afterAll(async () => {
  await transport?.close();
  await ca?.stop();
});

/** What the look before an order finds. */
let checks: PreflightCheck[];
let looks: Parameters<AcmePreflight['check']>[0][];
let kept: UnderWay[];
let said: string[];
/** Paths that the authority was asked for. */
let asked: string[];
beforeEach(() => {
  asked = [];
  checks = [];
  looks = [];
  kept = [];
  said = [];
});

const NAMES = 'a.test,b.test';
const row = (more: Partial<OrderWithSubject> = {}) =>
  ({
    ...{ names: NAMES, challenge: 'http-01', key_type: 'p256', is_placeholder: 1, chain_pem: '', domains: '' },
    ...more,
  }) as OrderWithSubject;

type Given = {
  row?: OrderWithSubject;
  underWay?: UnderWay | undefined;
  accountUrl?: string | null;
  keep?: () => Promise<void>;
};

const noting: AcmeTransport = (request) => {
  asked.push(new URL(request.url).pathname);
  return transport.transport(request);
};

/** An order of these names at the authority, as it may be by now. */
const orderOf = (more: object): ScriptedAnswer => {
  const [authorization, finalize] = ['/authorization', '/finalize/0'].map(
    (path) => new URL(path, ca.account.directory_url).href,
  );
  const identifiers = NAMES.split(',').map((value) => ({ type: 'dns', value }));
  return { body: JSON.stringify({ status: 'ready', identifiers, authorizations: [authorization], finalize, ...more }) };
};

/** Has one issued, and tells what the ledger says of the names then. */
const issue = async (given: Given = {}) => {
  const { directory_url: directoryUrl } = ca.account;
  const accountUrl = new URL('/account/1', directoryUrl).href;
  let outcomes: string[] = [];
  let result: { chainPem: string; keyPem: string } | Error | undefined;
  await withStore(async ({ kysely: db, transactAside }) => {
    const clock = () => new Date();
    const acmeOrder = createAcmeOrder({
      ledger: createLedger({ db, transactAside, store: ledgerStore, clock }),
      preflight: {
        async check(look) {
          looks.push(look);
          return { ok: checks.length === 0, checks };
        },
      },
      challenges: { publish: async () => {}, withdraw: async () => {} },
      dns: {
        access: () => Promise.reject(new Error('none')),
        records: { rounds: async () => [], open: () => Promise.reject() },
      },
      clock,
      log: { warn: () => {} },
    });
    const account = { ...ca.account, account_url: given.accountUrl === null ? null : accountUrl };
    const client = createAcmeClient({ directoryUrl, accountKey, accountUrl, transport: noting });
    result = await acmeOrder({
      ...{ row: given.row ?? row(), account: account as unknown as StoredAccount, accountKeyPem: accountKey, client },
      steps: createSteps(ACME_STEPS, async (all) => {
        said.push(...all.filter(({ status }) => status === 'running').map(({ message }) => message));
      }),
      underWay: given.underWay,
      keep: async (underWay) => {
        kept.push(underWay);
        await given.keep?.();
      },
      signal: new AbortController().signal,
    }).catch((error: Error) => error);
    const rows = await db.selectFrom('order_ledger').select('outcome').orderBy('id').execute();
    outcomes = rows.map(({ outcome }) => outcome);
  });
  return { result, outcomes };
};
const PROBLEM = { 'content-type': 'application/problem+json' };
const problem = (kind: string, status = 400) => ({
  ...{ status, headers: PROBLEM },
  body: JSON.stringify({ type: `urn:ietf:params:acme:error:${kind}`, detail: 'no' }),
});

test('what is needed to take an order up again is kept before its key is told, and taken up then without another look', async () => {
  const crashed = await issue({ keep: () => Promise.reject(new Error('the process ends')) });
  expect(crashed).toMatchObject({ result: { message: 'the process ends' }, outcomes: ['ordered'] });
  expect(ca.orders.at(-1)?.chain).toBeUndefined();
  const asOrdered = { names: NAMES.split(','), challenge: 'http-01', directoryUrl: ca.account.directory_url };
  expect(looks).toEqual([expect.objectContaining(asOrdered)]);
  await issue({ row: row({ challenge: null }), keep: () => Promise.reject(new Error('the process ends')) });
  expect(looks.pop()?.challenge).toBe('http-01');
  const orders = ca.orders.length;
  const { result, outcomes } = await issue({ underWay: kept[0] });
  expect(result).toMatchObject({ keyPem: kept[0]?.keyPem, chainPem: expect.stringContaining('BEGIN CERTIFICATE') });
  expect({ outcomes, looks: looks.length, kept: kept.length }).toEqual({ outcomes: [], looks: 1, kept: 2 });
  expect(ca.orders.length).toBe(orders);
});

test('another one is made when the one that was under way is for other names, over, expired or forgotten', async () => {
  await issue();
  const [underWay] = kept;
  const expires = new Date(Date.now() - 1_000).toISOString();
  for (const [answer, outcomes] of [
    [orderOf({ identifiers: [{ type: 'dns', value: 'a.test' }] }), ['ordered']],
    [orderOf({ status: 'invalid' }), ['ordered']],
    [orderOf({ expires }), ['ordered']],
    [{ status: 404, body: '' }, ['ordered']],
    [problem('malformed'), ['ordered']],
    [problem('unauthorized', 403), ['ordered']],
  ] as const) {
    const before = ca.orders.length;
    ca.script('order', answer);
    const made = await issue({ underWay, keep: async () => ca.script('order', undefined) });
    expect(made).toMatchObject({ result: { chainPem: expect.any(String) }, outcomes });
    expect(ca.orders.length).toBe(before + 1);
  }
  // One that is good for a while is taken up, and one that can't be asked for is kept for the next attempt.
  const before = ca.orders.length;
  ca.script('order', orderOf({ expires: new Date(Date.now() + 3_600_000).toISOString() }));
  await issue({ underWay });
  expect(ca.orders.length).toBe(before);
  ca.script('order', { status: 503, body: '' });
  expect(await issue({ underWay })).toMatchObject({ result: { name: 'AcmeUnreachable' }, outcomes: [] });
  expect(ca.orders.length).toBe(before);
  ca.script('order', undefined);
});

test('a validation that failed while nobody was there to hear of it counts', async () => {
  await issue();
  const [underWay] = kept;
  ca.script('order', orderOf({ status: 'invalid' }));
  const { href: url } = new URL('/challenge', ca.account.directory_url);
  const failed = { type: 'http-01', url, token: 'DGyRjmCefe7v4NfDGDKfA-DGyRjm', status: 'invalid' };
  const identifier = { type: 'dns', value: 'a.test' };
  ca.script('authorization', { body: JSON.stringify({ status: 'invalid', identifier, challenges: [failed] }) });
  const { outcomes } = await issue({ underWay, keep: async () => ca.script('order', undefined) });
  ca.script('authorization', undefined);
  expect(outcomes).toEqual(['failed', 'ordered']);
});

test('the authority is not told of what is certain to fail; what may only look so from here is said', async () => {
  const before = ca.orders.length;
  const fault = { name: 'dns', ok: false, blocks: true, message: 'It leads elsewhere.', fix: 'Change its DNS.' };
  checks = [fault as PreflightCheck];
  expect(await issue()).toMatchObject({
    result: { name: 'CannotOrder', message: 'It leads elsewhere. Change its DNS.' },
    outcomes: [],
  });
  checks = [{ ...fault, fix: null } as PreflightCheck];
  expect(await issue()).toMatchObject({ result: { message: 'It leads elsewhere.' } });
  expect(ca.orders.length).toBe(before);
  checks = [{ ...fault, ok: true } as PreflightCheck, { ...fault, blocks: false } as PreflightCheck];
  expect(await issue()).toMatchObject({ outcomes: ['ordered'] });
  expect(said).toContain('It leads elsewhere. That may look so from here only.');
  checks = [{ ...fault, ok: true } as PreflightCheck];
  said = [];
  expect(await issue()).toMatchObject({ outcomes: ['ordered'] });
  expect(said.join()).not.toContain('It leads elsewhere');
  expect(await issue({ accountUrl: null })).toMatchObject({ result: { name: 'CannotOrder' }, outcomes: [] });
});

test('a renewal follows the certificate before where that has a name of it, and goes without where the authority does not know that one', async () => {
  await issue();
  const chain_pem = ca.orders.at(-1)?.chain ?? '';
  const there = { is_placeholder: 0, chain_pem, domains: NAMES };
  expect(predecessorOf(row(there))).toBe(ariCertificateId(chain_pem));
  expect(predecessorOf(row({ ...there, is_placeholder: 1 }))).toBeUndefined();
  expect(predecessorOf(row({ ...there, domains: 'c.test' }))).toBeUndefined();
  expect(predecessorOf(row({ ...there, domains: 'b.test,c.test' }))).toBe(ariCertificateId(chain_pem));
  expect(predecessorOf(row({ ...there, chain_pem: 'garbage' }))).toBeUndefined();
  await issue({ row: row(there) });
  expect(ca.orders.at(-1)?.replaces).toBe(ariCertificateId(chain_pem));

  for (const [answer, times] of [
    [problem('malformed'), 2],
    [problem('compound', 404), 2],
    [problem('compound', 409), 2],
    [problem('rateLimited', 429), 1],
  ] as const) {
    ca.script('orders', answer);
    asked = [];
    const { outcomes, result } = await issue({ row: row(there) });
    expect({ outcomes, name: (result as Error).name }).toEqual({ outcomes: ['refused'], name: 'AcmeProblem' });
    expect(asked.filter((path) => path === '/orders')).toHaveLength(times);
  }
  // Nothing was left out that could be.
  ca.script('orders', problem('malformed'));
  asked = [];
  await issue();
  expect(asked.filter((path) => path === '/orders')).toHaveLength(1);
  ca.script('orders', undefined);
});

test('one that is at work is waited for, and not believed when it begins anew', async () => {
  ca.script('finalize', orderOf({ status: 'processing' }));
  expect(await issue()).toMatchObject({
    result: {
      name: 'AcmeProtocolError',
      message: expect.stringContaining('the order is ready and has no certificate'),
    },
  });
  ca.script('finalize', undefined);
  // What is there already is not asked for again.
  await issue();
  const underWay = kept.at(-1);
  asked = [];
  expect(await issue({ underWay })).toMatchObject({ result: { keyPem: underWay?.keyPem } });
  expect(asked.filter((path) => path.startsWith('/finalize'))).toEqual([]);
});
