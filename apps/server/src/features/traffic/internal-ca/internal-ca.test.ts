import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import type { AuditEntry, Certificate, ErrorBody, InternalAuthority } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { oneByOne } from '@sallyport/store/history/record';
import { openVault } from '@sallyport/store/secrets/vault';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../../../test/support/until.ts';
import { fromOutside } from '../../../testing/given-accounts.ts';
import { givenHistory } from '../../../testing/given-history.ts';
import { onBothDatabases } from '../../../testing/start-app.ts';
import { orderStore } from '../acme/orders/store.ts';
import { issueLeaf, makeAuthority } from './authority.ts';
import { createInternalCa } from './service.ts';
import { internalCaStore } from './store.ts';

const run = promisify(execFile);
const ENGINE = systemActor('certificate orders');
const YEAR_MS = 365.25 * 86_400_000;

const inDirectory = (files: Record<string, string>): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-ca-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
};

test.each(['p256', 'rsa2048'] as const)(
  'real clients take a %s certificate of it for its names alone',
  async (keyType) => {
    const { rootPem, keyPem: rootKey } = await makeAuthority('nas.lan', new Date());
    const names = ['nas.lan', '*.home.lan', 'nas', '127.0.0.1', '::1'];
    const { chainPem, keyPem } = await issueLeaf({ rootPem, keyPem: rootKey }, { names, keyType }, new Date());
    const server = createServer({ cert: chainPem, key: keyPem }, (socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const directory = inDirectory({ 'root.pem': rootPem, 'leaf.pem': chainPem });
    const root = join(directory, 'root.pem');

    const handshake = (servername: string) =>
      new Promise<TLSSocket | Error>((resolve) => {
        const socket = connect(
          { host: '127.0.0.1', port, ca: rootPem, ...(servername === '' ? {} : { servername }) },
          () => resolve(socket),
        );
        socket.on('error', resolve);
        onTestFinished(() => void socket.destroy());
      });
    for (const name of ['nas.lan', 'tv.home.lan', 'nas', ''])
      expect(await handshake(name), name).not.toBeInstanceOf(Error);
    expect(await handshake('router.lan')).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });

    for (const host of [
      '-verify_hostname nas.lan',
      '-verify_hostname x.home.lan',
      '-verify_ip 127.0.0.1',
      '-verify_ip ::1',
    ]) {
      const strict = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', root, ...host.split(' ')];
      expect((await run('openssl', [...strict, join(directory, 'leaf.pem')])).stdout).toContain('OK');
    }
    const curl = (name: string) =>
      run('curl', ['-sS', '--cacert', root, '--resolve', `${name}:${port}:127.0.0.1`, `https://${name}:${port}/`]);
    expect((await curl('nas.lan')).stdout).toBe('ok');
    expect((await run('curl', ['-sS', '--cacert', root, `https://127.0.0.1:${port}/`])).stdout).toBe('ok');
    await expect(curl('router.lan')).rejects.toMatchObject({ stderr: expect.stringMatching(/match|subject name/i) });
  },
);

test('a root signs leafs and no authority; both say who they are, and no two are numbered alike', async () => {
  const now = new Date('2026-11-22T12:00:00Z');
  const authority = await makeAuthority(`${'very-long-label.'.repeat(8)}example.com`, now);
  const root = new X509Certificate(authority.rootPem);
  expect(root.ca).toBe(true);
  expect(root.checkPrivateKey(createPrivateKey(authority.keyPem))).toBe(true);
  expect(root.validToDate).toEqual(new Date('2036-11-22T12:00:00Z'));
  expect(/^CN=(Sallyport CA of very-long-label.+)$/m.exec(root.subject)?.[1]).toHaveLength(64);
  const directory = inDirectory({ 'root.pem': authority.rootPem });
  const { stdout } = await run('openssl', ['x509', '-in', join(directory, 'root.pem'), '-noout', '-text']);
  expect(stdout).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
  expect(stdout).toMatch(/Key Usage: critical\s+Certificate Sign, CRL Sign/);

  const issue = () => issueLeaf(authority, { names: ['nas.lan'], keyType: 'p256' }, now);
  const [one, other] = await Promise.all([issue(), issue()]);
  const leaf = new X509Certificate(one.chainPem);
  expect(leaf.validToDate).toEqual(new Date('2026-12-22T12:00:00Z'));
  expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.serialNumber).not.toBe(new X509Certificate(other.chainPem).serialNumber);
  expect(one.keyPem).not.toBe(other.keyPem);
});

test('a leaf ends with its root, and none is signed after that', async () => {
  const made = new Date('2026-11-22T12:00:00Z');
  const authority = await makeAuthority('nas.lan', made);
  const request = { names: ['nas.lan'], keyType: 'p256' as const };
  const late = await issueLeaf(authority, request, new Date('2036-11-20T12:00:00Z'));
  expect(new X509Certificate(late.chainPem).validToDate).toEqual(new X509Certificate(authority.rootPem).validToDate);
  await expect(issueLeaf(authority, request, new Date('2036-11-23T12:00:00Z'))).rejects.toThrow('the root expired on');
});

onBothDatabases('the internal authority', (kind) => {
  let now = new Date();
  const { here, send, call } = givenHistory(kind, {}, { clock: () => now });

  /** The authority as a node beside the service has it. */
  const node = async () => {
    const database: Database = openDatabase(here().app.config);
    onTestFinished(() => database.stop());
    const { kysely: db, transactAside } = database;
    const vault = openVault(here().app.config);
    const clock = () => now;
    const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
    const record = oneByOne(audit.recordMany);
    return createInternalCa({
      db,
      transactAside,
      store: internalCaStore,
      vault,
      record,
      place: async () => 'nas.lan',
      renewAll: (tx) => orderStore(tx).renewInternal(clock().toISOString()),
      nudge: () => {},
      backUp: async () => {},
      clock,
    });
  };

  test('has one root, whoever is first; anybody signed in gets it, without its key', async () => {
    const { app, caller } = here();
    expect(await send<ErrorBody>('GET', '/certificates/internal-ca')).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('no internal authority yet') },
    });
    expect((await send('GET', '/certificates/internal-ca/root.pem')).status).toBe(404);
    const nodes = await Promise.all([node(), node(), node()]);
    const leafs = await Promise.all(
      nodes.map((one, index) => one.issue({ names: [`n${index}.lan`], keyType: 'p256' }, ENGINE)),
    );
    const { headers } = await caller();
    const root = await call<InternalAuthority>('GET', '/certificates/internal-ca', undefined, headers);
    const answer = await send<string>('GET', '/certificates/internal-ca/root.pem', undefined, headers);
    expect(answer.headers.get('content-type')).toBe('application/x-x509-ca-cert');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="sallyport-root.pem"');
    expect(answer.body).not.toContain('PRIVATE');
    const certificate = new X509Certificate(answer.body);
    expect(root).toMatchObject({
      subject: expect.stringContaining('Sallyport CA of nas.lan'),
      sha256: certificate.fingerprint256,
      not_after: certificate.validToDate.toISOString(),
      issue: null,
    });
    for (const { chainPem } of leafs) expect(new X509Certificate(chainPem).verify(certificate.publicKey)).toBe(true);
    const audited = (await call<AuditEntry[]>('GET', '/audit-logs?limit=50')).map(({ action }) => action);
    expect(audited.filter((action) => action === 'internal_ca.create')).toHaveLength(1);
    const rows = await here().database.kysely.selectFrom('internal_ca').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('PRIVATE');
    expect((await app.send('GET', '/certificates/internal-ca', undefined, fromOutside())).status).toBe(401);
  });

  test('gets another root, shown before it signs anything; from the moment that it takes over it signs all, and is the only one', async () => {
    const base = '/certificates/internal-ca';
    expect((await send('POST', `${base}/next`)).status).toBe(404);
    const wanted = { names: ['nas.lan'], provider: 'internal' };
    const { certificate } = await call<{ certificate: Certificate }>('POST', '/certificates/order', wanted);
    const leafBy = async (root: X509Certificate) =>
      until(
        'it is signed by that root',
        async () => {
          const { body } = await send<string>('GET', `/certificates/${certificate.id}/download`);
          return typeof body === 'string' && new X509Certificate(body).verify(root.publicKey) ? body : undefined;
        },
        60_000,
      );
    const rootOf = async (file: string) => new X509Certificate(await call<string>('GET', `${base}/${file}`));
    await until('it is made', async () => (await send('GET', base)).status === 200 || undefined, 60_000);
    const first = await rootOf('root.pem');
    await leafBy(first);
    expect((await send('GET', `${base}/next-root.pem`)).status).toBe(404);
    const NONE = { sha256: first.fingerprint256 };
    expect((await send('POST', `${base}/take-over`, NONE)).status).toBe(404);
    expect((await send('POST', `${base}/take-over`, {})).status).toBe(400);

    // Of several who make it at once, one does.
    const made = await Promise.all([1, 2, 3].map(() => send<InternalAuthority>('POST', `${base}/next`)));
    expect(made.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const next = await rootOf('next-root.pem');
    const told = await call<InternalAuthority>('GET', base);
    expect(told).toMatchObject({ sha256: first.fingerprint256, next: { sha256: next.fingerprint256 } });
    expect(next.subject).not.toBe(first.subject);
    await call('POST', `/certificates/${certificate.id}/renew`);
    await leafBy(first);
    const meant = { sha256: next.fingerprint256 };
    await call('POST', `${base}/drop-next`, { sha256: next.fingerprint256.toLowerCase() });
    expect((await call<InternalAuthority>('GET', base)).next).toBeNull();

    await call('POST', `${base}/next`);
    const successor = await rootOf('next-root.pem');
    // Who still sees the one before neither lets this one take over nor gives it up.
    for (const path of ['take-over', 'drop-next']) {
      expect(await send<ErrorBody>('POST', `${base}/${path}`, meant)).toMatchObject({
        status: 409,
        body: {
          error: expect.stringMatching(/another one/),
          details: expect.stringContaining(successor.fingerprint256),
        },
      });
    }
    expect((await rootOf('root.pem')).fingerprint256).toBe(first.fingerprint256);
    const named = { sha256: successor.fingerprint256 };
    const taken = await Promise.all([1, 2].map(() => send<InternalAuthority>('POST', `${base}/take-over`, named)));
    expect(taken.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await rootOf('root.pem')).fingerprint256).toBe(successor.fingerprint256);
    expect(await call<InternalAuthority>('GET', base)).toMatchObject({ next: null, issue: null });
    await leafBy(successor);
    const rows = await here().database.kysely.selectFrom('internal_ca').select('id').execute();
    expect(rows).toEqual([{ id: 1 }]);
    const actions = (await call<AuditEntry[]>('GET', '/audit-logs?limit=50')).map(({ action }) => action);
    for (const action of ['create', 'prepare', 'drop', 'take_over']) expect(actions).toContain(`internal_ca.${action}`);
    const { headers } = await here().caller();
    for (const [method, path] of [
      ['POST', 'next'],
      ['POST', 'drop-next'],
      ['POST', 'take-over'],
    ] as const) {
      expect((await send(method, `${base}/${path}`, undefined, headers)).status).toBe(403);
    }
  });

  test('tells of its end two years before', async () => {
    // As who is on this host: a session would end meanwhile.
    const issueAfter = async (years: number) => {
      now = new Date(Date.now() + years * YEAR_MS);
      return (await call<InternalAuthority>('GET', '/certificates/internal-ca', undefined, {})).issue;
    };
    await (await node()).issue({ names: ['nas.lan'], keyType: 'p256' }, ENGINE);
    expect(await issueAfter(7.9)).toBeNull();
    // In words for who has a screen or a terminal before them.
    expect(await issueAfter(8.1)).toMatch(/expires on .*: make the next root, and have every device trust it/);
    expect(await issueAfter(8.1)).not.toContain('/api/');
    expect(await issueAfter(10.1)).toContain('expired on');
    now = new Date();
  });
});
