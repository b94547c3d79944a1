import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ariCertificateId, createAcmeClient, makeCertificateKey } from '@sallyport/acme';
import type {
  Certificate,
  CertificateInUse,
  ErrorBody,
  InternalAuthority,
  Preflight,
  ProxyHost,
  RevokedCertificate,
} from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import { createVault, openVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../../../../../test/support/until.ts';
import { openAcmeTransport } from '../../../../net/acme-transport.ts';
import { startServer } from '../../../../server.ts';
import { hasEnded, order, prepare, read, SOON_MS, settled } from '../../../../testing/given-orders.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';
import { type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';
import { makeAuthority } from '../../internal-ca/authority.ts';
import { explain } from './failure.ts';

const DAY_MS = 86_400_000;
const KEY = 'k'.repeat(48);

/** How the first order is stored, and what came of all that was asked of authorities. */
const stored = async (app: TestApp) => {
  const database = openDatabase(app.config);
  try {
    const fields = ['order_url', 'order_key_sealed', 'names', 'failures'] as const;
    const row = await database.kysely.selectFrom('certificate_orders').select(fields).executeTakeFirstOrThrow();
    const ledger = await database.kysely.selectFrom('order_ledger').select('outcome').orderBy('id').execute();
    return { ...row, outcomes: ledger.map(({ outcome }) => outcome) };
  } finally {
    await database.stop();
  }
};

describe('an authority that answers garbage', () => {
  let ca: ScriptedCa;
  let app: TestApp;
  let provider: number;
  beforeAll(async () => {
    ca = await startScriptedCa();
    app = await startApp('sqlite');
    provider = await prepare(app, ca);
  });
  afterAll(async () => {
    await app?.stop();
    await ca?.stop();
  });

  const elsewhere = { newNonce: 'https://169.254.169.254/nonce', newAccount: 'https://127.0.0.1/a', newOrder: '/o' };
  const garbage: [what: string, said: Parameters<ScriptedCa['script']>[1], issue: RegExp][] = [
    ['directory', { headers: { 'content-type': 'text/html' }, body: '<h1>It works!</h1>' }, /type "text\/html"/],
    ['directory', { body: '{"hello":"\\u0000world"}' }, /this is no ACME directory: it has no newNonce/],
    ['directory', { body: JSON.stringify(elsewhere) }, /newNonce is elsewhere than the directory/],
    ['directory', { status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' }, /a redirect \(302\)/],
    ['directory', { body: 'x'.repeat(300_000) }, /larger than/],
    ['orders', { status: 201, body: '[]' }, /\/orders: /],
    ['finalize', { body: '{"status":"valid"}' }, /does not say where its certificate is/],
    ['certificate', { headers: { 'content-type': 'application/pem-certificate-chain' }, body: 'PEM' }, /not a chain/],
  ];

  test('has an order fail with what to look at and when it is tried next; nothing is stored half, and the next try has it', async () => {
    const id = await order(app, provider, ['first.test']);
    await settled(app, id, ({ status }) => status === 'valid');
    for (const [what, said, issue] of garbage) {
      ca.script(what, said);
      const before = await read(app, id);
      await app.send('POST', `/certificates/${id}/renew`);
      const failed = await settled(app, id, (one) => hasEnded(one) && one.last_attempt_at !== before.last_attempt_at);
      const { message } = failed.steps.find(({ status }) => status === 'failed') ?? {};
      expect(message).toMatch(
        /^The authority answered what can not be believed: .*look at the account's directory_url/,
      );
      expect(message).toMatch(issue);
      expect(failed).toMatchObject({ status: 'valid', problem: null, expires_at: before.expires_at });
      expect(Date.parse(failed.next_attempt_at ?? '')).toBeGreaterThan(Date.parse(failed.last_attempt_at ?? ''));
      // The next attempt begins anew.
      expect(await stored(app)).toMatchObject({ order_url: null, order_key_sealed: null });
      ca.script(what, undefined);
    }
    expect((await stored(app)).failures).toBe(garbage.length);
    const { last_attempt_at } = await read(app, id);
    await app.send('POST', `/certificates/${id}/renew`);
    await settled(app, id, (one) => hasEnded(one) && one.last_attempt_at !== last_attempt_at);
    // What came to nothing is no certificate of the week.
    const outcomes = ['issued', 'refused', 'refused', 'refused', 'issued'];
    expect(await stored(app)).toMatchObject({ failures: 0, outcomes });
  });

  test('that does not revoke is told in its words, and nothing is stored; a key in other hands is proven by using it', async () => {
    const id = await order(app, provider, ['revoked.test']);
    await settled(app, id, (one) => one.status === 'valid' && hasEnded(one));
    const revoke = (body: object) =>
      app.send<RevokedCertificate & ErrorBody>('POST', `/certificates/${id}/revoke`, body);
    const problem = { type: 'urn:ietf:params:acme:error:badRevocationReason', detail: 'not for that reason' };
    const headers = { 'content-type': 'application/problem+json' };
    ca.script('revoke', { status: 403, headers, body: JSON.stringify(problem) });
    expect(await revoke({ reason: 'superseded' })).toMatchObject({
      status: 409,
      body: { error: 'The authority does not revoke it: not for that reason', details: problem.type },
    });
    ca.script('revoke', { headers: { 'content-type': 'text/html' }, body: '<h1>It works!</h1>' });
    expect(await revoke({})).toMatchObject({ status: 409, body: { details: expect.stringContaining('text/html') } });
    ca.script('revoke', undefined);
    expect(await read(app, id)).toMatchObject({ status: 'valid', revoked_at: null });
    const { body, status } = await revoke({ reason: 'key_compromise' });
    expect(status).toBe(200);
    expect(body.message).toMatch(/^The authority has revoked it; another one with a new key is ordered/);
    expect(ca.revocations).toEqual([
      { reason: 4, isByAccount: true },
      { reason: undefined, isByAccount: true },
      { reason: 1, isByAccount: false },
    ]);
    const again = await settled(app, id, (one) => one.status === 'valid' && hasEnded(one));
    expect(again.issue ?? '').not.toContain('revoked');
  });

  test('is not asked with an account whose key nobody can open: that is told, with what to do', async () => {
    const { body: certificate } = await app.send<Certificate[]>('GET', '/certificates');
    const [{ id = 0, last_attempt_at = null } = {}] = certificate;
    const database = openDatabase(app.config);
    const key_sealed = createVault('another key'.repeat(4)).seal('a key', 'acme');
    await database.kysely.updateTable('acme_accounts').set({ key_sealed }).execute();
    await database.stop();

    const lost =
      /^The key of the ACME account Scripted can not be opened \(sealed with key \w+, but the key in use is \w+\)/;
    const wanted = { names: ['lost.test'], dns_provider_id: provider };
    const look = await app.send<Preflight>('POST', '/certificates/preflight', wanted);
    const fix = expect.stringMatching(/put that encryption key back, or add another account/);
    expect(look).toMatchObject({
      status: 200,
      body: {
        ok: false,
        checks: [{ name: 'account', ok: false, blocks: true, message: expect.stringMatching(lost), fix }],
      },
    });
    await app.send('POST', `/certificates/${id}/renew`);
    const failed = await settled(app, id, (one) => hasEnded(one) && one.last_attempt_at !== last_attempt_at);
    expect(failed.issue).toMatch(lost);
    // Its own key will do to have a certificate revoked.
    const revoked = await app.send<RevokedCertificate>('POST', `/certificates/${id}/revoke`, {});
    expect(revoked).toMatchObject({ status: 200, body: { certificate: { status: 'revoked' } } });
    expect(ca.revocations.at(-1)).toEqual({ reason: undefined, isByAccount: false });
    // HAProxy is away, too, which is not why there is no successor.
    expect(failed.issue).toMatch(
      /: put that encryption key back, or add another account and order with that\. Besides, the proxy lacks the one that is there: HAProxy is not running/,
    );
  });

  test('nor is our own one, whose key is lost: preflight, order and the root tell that, with what to do', async () => {
    const wanted = { names: ['nas.lan'], provider: 'internal' };
    const { body: first } = await app.send<{ certificate: Certificate }>('POST', '/certificates/order', wanted);
    await settled(app, first.certificate.id, (one) => one.status === 'valid' && hasEnded(one));
    expect(await app.send('POST', '/certificates/preflight', wanted)).toMatchObject({ body: { ok: true } });
    const other = await makeAuthority('elsewhere', new Date());
    const database = openDatabase(app.config);
    try {
      for (const [key_sealed, message] of [
        [
          createVault('another key'.repeat(4)).seal('a key', 'internal'),
          /^The key of the internal authority can not be /,
        ],
        [openVault(app.config).seal(other.keyPem, INTERNAL_CA_CONTEXT), /root and a key that do not work/],
        [openVault(app.config).seal('garbage', INTERNAL_CA_CONTEXT), /root and a key that do not work/],
      ] as const) {
        await database.kysely.updateTable('internal_ca').set({ key_sealed }).execute();
        const fix = expect.stringContaining('restore a backup that holds it');
        expect(await app.send<Preflight>('POST', '/certificates/preflight', wanted)).toMatchObject({
          status: 200,
          body: { ok: false, checks: [{ ok: false, blocks: true, message: expect.stringMatching(message), fix }] },
        });
        const { body: root } = await app.send<InternalAuthority>('GET', '/certificates/internal-ca');
        expect(root.issue).toMatch(message);
        const { last_attempt_at } = await read(app, first.certificate.id);
        await app.send('POST', `/certificates/${first.certificate.id}/renew`);
        const failed = await settled(
          app,
          first.certificate.id,
          (one) => hasEnded(one) && one.last_attempt_at !== last_attempt_at,
        );
        expect(failed.issue).toMatch(message);
        expect(failed.issue).toContain('restore a backup that holds it');
      }
    } finally {
      await database.stop();
    }
  });

  test('or nothing at all is given up, and the order tried again later', async () => {
    const { transport, close } = await openAcmeTransport({ caCertificate: ca.account.ca_certificate });
    const { directory_url: directoryUrl } = ca.account;
    const accountKey = await makeCertificateKey('p256');
    ca.script('directory', new Promise(() => {}));
    try {
      const client = createAcmeClient({ directoryUrl, accountKey, transport, requestTimeoutMs: 100 });
      const failure = await client.newOrder({ names: ['a.test'] }).then(() => undefined, explain);
      expect(failure).toMatchObject({ isOrderOver: false, problem: null });
      expect(failure?.issue).toMatch(
        /^The authority could not be reached: .*no answer within 0\.1 seconds – it is tried again/,
      );
    } finally {
      ca.script('directory', undefined);
      await close();
    }
  });

  test('has no account made with it', async () => {
    ca.script('directory', { headers: { 'content-type': 'text/html' }, body: '<h1>It works!</h1>' });
    const answer = await app.send<{ error: string }>('POST', '/acme/accounts', { ...ca.account, name: 'Other' });
    ca.script('directory', undefined);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^directory_url: the authority could not be spoken to: .*text\/html/) },
    });
    expect((await app.send<unknown[]>('GET', '/acme/accounts')).body).toHaveLength(1);
  });
});

test('a certificate is renewed in the window that its authority proposes, as the successor of the one before, and not over and over', async () => {
  const ca = await startScriptedCa();
  let now = Date.now();
  const app = await startApp('sqlite', {}, { clock: () => new Date(now) });
  try {
    const provider = await prepare(app, ca);
    const [start, end] = [new Date(now + 20 * DAY_MS), new Date(now + 21 * DAY_MS)];
    ca.propose(start, end);
    const id = await order(app, provider, ['wished.test']);
    const isWithin = ({ next_attempt_at }: CertificateInUse) =>
      (next_attempt_at ?? '') >= start.toISOString() && (next_attempt_at ?? '') <= end.toISOString();
    await settled(app, id, (one) => hasEnded(one) && isWithin(one));
    expect(ca.orders).toHaveLength(1);

    // From now on all of its windows are over.
    now = end.getTime() + 1;
    // Not to be waited for: the worker looks when something is ordered.
    await order(app, provider, ['other.test']);
    const rests = ({ next_attempt_at }: CertificateInUse) => Date.parse(next_attempt_at ?? '') - now === DAY_MS / 2;
    const renewed = await settled(app, id, (one) => hasEnded(one) && rests(one));
    expect(renewed.last_attempt_at).toBe(new Date(now).toISOString());
    const mine = ca.orders.filter(({ names }) => names.includes('wished.test'));
    expect(mine.map(({ replaces }) => replaces)).toEqual([undefined, ariCertificateId(mine[0]?.chain ?? '')]);

    // A clock that runs ahead finds each one over, and what is to be tried again is so much too late.
    const today = now;
    now += 400 * DAY_MS;
    await app.send('POST', `/certificates/${id}/renew`);
    const triedAt = (one: CertificateInUse) => Date.parse(one.last_attempt_at ?? '');
    const failed = await settled(app, id, (one) => hasEnded(one) && triedAt(one) === now);
    expect(failed.issue).toMatch(/has expired already/);
    now = today;
    await order(app, provider, ['third.test']);
    const mended = await settled(app, id, (one) => hasEnded(one) && triedAt(one) === now);
    expect(Date.parse(mended.next_attempt_at ?? '') - now).toBeLessThanOrEqual(90 * DAY_MS);
  } finally {
    await app.stop();
    await ca.stop();
  }
});

test('what is asked for while an order is under way is done next, and is no failure', async () => {
  const ca = await startScriptedCa();
  const app = await startApp('sqlite');
  try {
    await prepare(app, ca);
    const held = Promise.withResolvers<void>();
    ca.script('finalize', held.promise);
    const host = { domain: '*.one.test', forward_host: '127.0.0.1', forward_port: 9, auto_certificate: true };
    const { body } = await app.send<ProxyHost>('POST', '/proxy-hosts', host);
    await until('it is ordered', () => ca.orders.length === 1 || undefined, SOON_MS);
    await app.send('PUT', `/proxy-hosts/${body.id}`, { ...host, domain: '*.one.test,*.two.test' });
    const wanted = '*.one.test,*.two.test';
    await until('the new name is asked for', async () => (await stored(app)).names === wanted || undefined, SOON_MS);
    held.resolve();
    const there = await settled(app, 1, (one) => hasEnded(one) && one.last_attempt_at !== null);
    expect(there).toMatchObject({ status: 'valid', domains: wanted });
    expect((await stored(app)).failures).toBe(0);
    expect(ca.orders.map(({ names }) => names)).toEqual([['*.one.test'], ['*.one.test', '*.two.test']]);
  } finally {
    await app.stop();
    await ca.stop();
  }
});

test('who asks for a renewal does not wait for an authority that hangs over when it wants them', async () => {
  const ca = await startScriptedCa();
  const app = await startApp('sqlite');
  const held = Promise.withResolvers<void>();
  try {
    const provider = await prepare(app, ca);
    ca.script('renewal', held.promise);
    const id = await order(app, provider, ['hangs.test']);
    await until('it is asked when', () => ca.waiting('renewal') === 1 || undefined, SOON_MS);
    await app.send('POST', `/certificates/${id}/renew`);
    await until('it is ordered', () => ca.orders.length === 2 || undefined, SOON_MS);
    // The authority has not been given up on.
    expect(ca.waiting('renewal')).toBe(1);
  } finally {
    held.resolve();
    await app.stop();
    await ca.stop();
  }
});

test('two nodes on one PostgreSQL order and renew each certificate once', async () => {
  const ca = await startScriptedCa();
  let now = Date.now();
  const clock = () => new Date(now);
  const app = await startApp('postgres', { SALLYPORT_ENCRYPTION_KEY: KEY }, { clock });
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const other = await startServer({ ...app.config, dataDir }, pino({ level: 'silent' }), { clock });
  try {
    const provider = await prepare(app, ca);
    const names = Array.from({ length: 6 }, (_, index) => `n${index}.test`);
    const ids = await Promise.all(names.map((name) => order(app, provider, [name])));
    /** Those that a certificate came of. An attempt that a busy machine made too slow may fail, and is made again. */
    const issued = () => ca.orders.filter(({ chain }) => chain !== undefined);
    const untilEach = (isDone: (certificate: CertificateInUse) => boolean) =>
      until(
        'each has its certificate',
        async () => {
          const all = await Promise.all(ids.map((id) => read(app, id)));
          for (const { id, steps } of all) {
            const failed = steps.find(({ status }) => status === 'failed');
            if (failed && failed.name !== 'install') await app.send('POST', `/certificates/${id}/renew`);
          }
          return all.every((one) => hasEnded(one) && isDone(one)) || undefined;
        },
        2 * SOON_MS,
      );
    await untilEach(({ status }) => status === 'valid');
    expect(
      issued()
        .map((one) => one.names.join())
        .sort(),
    ).toEqual(names);

    now += 75 * DAY_MS;
    await untilEach(({ id }) => issued().filter((one) => one.names.join() === names[ids.indexOf(id)]).length > 1);
    expect(
      issued()
        .map((one) => one.names.join())
        .sort(),
    ).toEqual(names.flatMap((name) => [name, name]));
    const followed = issued().flatMap(({ replaces }) => replaces ?? []);
    expect(new Set(followed).size).toBe(names.length);
  } finally {
    await other.stop();
    await app.stop();
    await ca.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
