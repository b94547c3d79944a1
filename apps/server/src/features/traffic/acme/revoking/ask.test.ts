import { makeCertificateKey } from '@sallyport/acme';
import type { RevocationReason } from '@sallyport/contract';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../../../../../../test/support/certificates.ts';
import { type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';
import type { StoredAccount } from '../accounts/store.ts';
import { AnswerLost, askToRevoke, lostRefusal } from './ask.ts';

const vault = createVault('k'.repeat(32));
const JSON_PROBLEM = { 'content-type': 'application/problem+json' };
const problem = (kind: string, detail = 'said so', status = 403) => ({
  ...{ status, headers: JSON_PROBLEM, body: JSON.stringify({ type: `urn:ietf:params:acme:error:${kind}`, detail }) },
});

let ca: ScriptedCa;
let account: StoredAccount;
const pair = makeCertificate(['a.test']);
beforeAll(async () => {
  ca = await startScriptedCa();
  account = {
    ...{ id: 1, uuid: 'u', name: 'Scripted', email: '', terms_agreed: 1, eab_kid: null, eab_hmac_sealed: null },
    ...{ directory_url: ca.account.directory_url, ca_certificate: ca.account.ca_certificate },
    ...{ account_url: new URL('/account/1', ca.account.directory_url).href, created_at: '', updated_at: '' },
    key_sealed: vault.seal(await makeCertificateKey('p256'), acmeAccountContext('u')),
  };
});
afterAll(() => ca?.stop());
afterEach(() => {
  for (const what of ['revoke', 'directory', 'nonce']) ca.script(what, undefined);
});

/** What asks, and what the authority got of it. */
const asking = (more: { reason?: RevocationReason; hasKey?: boolean; isLost?: boolean; signal?: AbortSignal } = {}) => {
  const { reason = 'superseded', hasKey = true, isLost = false, signal = AbortSignal.timeout(60_000) } = more;
  const before = ca.revocations.length;
  const wanted = {
    ...{ chain_pem: pair.certificate, key_pem: hasKey ? pair.key : undefined, reason },
    account: isLost ? { ...account, key_sealed: 'v1.lost' } : account,
  };
  const ask = () => askToRevoke(wanted, { vault, clock: () => new Date() }, signal);
  return { ask, asked: () => ca.revocations.slice(before) };
};

test('the account asks, with the reason, and what was revoked before is told apart', async () => {
  const { ask, asked } = asking();
  expect([await ask(), await ask()]).toEqual(['revoked', 'was revoked']);
  expect(asked()).toEqual([
    { reason: 4, isByAccount: true },
    { reason: 4, isByAccount: true },
  ]);
  // Rather absent than unspecified.
  const other = asking({ reason: 'unspecified' });
  await other.ask();
  expect(other.asked()).toEqual([{ reason: undefined, isByAccount: true }]);
});

test('a key in other hands is proven by using it, where it is there', async () => {
  const own = asking({ reason: 'key_compromise' });
  await own.ask();
  expect(own.asked()).toEqual([{ reason: 1, isByAccount: false }]);
  const none = asking({ reason: 'key_compromise', hasKey: false });
  await none.ask();
  expect(none.asked()).toEqual([{ reason: 1, isByAccount: true }]);
});

test('where one signer is not taken the other is tried, and where none is the first is told', async () => {
  for (const kind of ['unauthorized', 'accountDoesNotExist', 'badPublicKey', 'badSignatureAlgorithm']) {
    ca.script('revoke', problem(kind, kind));
    const { ask, asked } = asking();
    await expect(ask()).rejects.toMatchObject({
      ...{ status: 409, message: `The authority does not revoke it: ${kind}` },
      details: `urn:ietf:params:acme:error:${kind}`,
    });
    expect(asked().map(({ isByAccount }) => isByAccount)).toEqual([true, false]);
  }
  ca.script('revoke', problem('badRevocationReason', ''));
  const { ask, asked } = asking();
  await expect(ask()).rejects.toThrow('The authority does not revoke it: it says no more');
  expect(asked()).toHaveLength(1);
});

test('a lost account key leaves the own key of the certificate, and without both nobody is asked', async () => {
  const { ask, asked } = asking({ isLost: true });
  await ask();
  expect(asked()).toEqual([{ reason: 4, isByAccount: false }]);
  const none = asking({ isLost: true, hasKey: false });
  await expect(none.ask()).rejects.toMatchObject({
    ...{ status: 409, message: expect.stringMatching(/^The key of the ACME account Scripted can not be opened/) },
    details: expect.stringContaining('put that encryption key back'),
  });
  expect(none.asked()).toEqual([]);
});

test('an answer that is none may be lost; what an authority says of itself, and refuses, is not', async () => {
  const html = { headers: { 'content-type': 'text/html' }, body: '<h1>It works!</h1>' };
  for (const said of [html, problem('serverInternal', 'oops', 500)]) {
    ca.script('revoke', said);
    const lost = await asking()
      .ask()
      .catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(AnswerLost);
    expect(lostRefusal(lost as AnswerLost)).toMatchObject({
      ...{ status: 409, message: expect.stringMatching(/^The answer of the authority was lost: it is asked again/) },
      details: expect.stringMatching(/./),
    });
  }
  ca.script('revoke', { status: 404, body: '{}' });
  await expect(asking().ask()).rejects.toMatchObject({
    status: 409,
    message: 'The authority answered what can not be believed: nothing was revoked',
  });
  ca.script('revoke', undefined);
  const there = new URL('/x', ca.account.directory_url).href;
  ca.script('directory', { body: JSON.stringify({ newNonce: there, newAccount: there, newOrder: there }) });
  const { ask, asked } = asking();
  await expect(ask()).rejects.toMatchObject({
    status: 409,
    message: 'The authority has no way to revoke certificates',
  });
  ca.script('directory', { body: 'no directory' });
  await expect(ask()).rejects.toThrow('The authority answered what can not be believed: nothing was revoked');
  ca.script('directory', { status: 503, body: '' });
  await expect(ask()).rejects.toThrow('The authority could not be reached: nothing was revoked');
  expect(asked()).toEqual([]);
});

test('an authority that does not answer in time was not asked, or its answer is lost', async () => {
  const over = Promise.withResolvers<void>();
  ca.script('directory', over.promise);
  const early = asking({ signal: AbortSignal.timeout(50) });
  await expect(early.ask()).rejects.toMatchObject({
    ...{ status: 409, message: 'The authority did not answer in time: nothing was revoked' },
  });
  over.resolve();
  ca.script('directory', undefined);
  const held = Promise.withResolvers<void>();
  ca.script('revoke', held.promise);
  const stopping = new AbortController();
  const { ask } = asking({ signal: stopping.signal });
  const lost = ask().catch((error: unknown) => error);
  await expect.poll(() => ca.waiting('revoke')).toBe(1);
  stopping.abort();
  expect(await lost).toBeInstanceOf(AnswerLost);
  held.resolve();
});
