import { X509Certificate } from 'node:crypto';
import type {
  AcmeAccount,
  AuditEntry,
  Backup,
  Certificate,
  CertificateInUse,
  DnsProvider,
  ErrorBody,
  HistoryEntry,
  ProxyHost,
  RevokedCertificate,
} from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../../../../../../test/support/certificates.ts';
import { type Named, startNamed } from '../../../../../../../test/support/start-named.ts';
import { type Pebble, startPebble } from '../../../../../../../test/support/start-pebble.ts';
import { until } from '../../../../../../../test/support/until.ts';
import { createGiven, PASSWORD } from '../../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../../testing/start-app.ts';

const SOON_MS = 60_000;

const order = async (app: TestApp, body: object) =>
  app.send<{ certificate: Certificate } & ErrorBody>('POST', '/certificates/order', body);
const settled = (app: TestApp, id: number, wanted: (certificate: CertificateInUse) => boolean) =>
  until(
    `certificate ${id} is as wanted`,
    async () => {
      const { body } = await app.send<CertificateInUse>('GET', `/certificates/${id}`);
      return wanted(body) ? body : undefined;
    },
    SOON_MS,
  );
const isThere = ({ status, steps }: CertificateInUse) =>
  status === 'valid' && steps.every((step) => step.status !== 'running');

onBothDatabases('orders', (kind) => {
  let named: Named;
  let pebble: Pebble;
  let app: TestApp;
  let headers: Record<string, string>;
  beforeAll(async () => {
    named = await startNamed({ zones: { 'zone.test': [] } });
    pebble = await startPebble({ resolver: named.resolver, badNonces: 20 });
    app = await startApp(kind);
    ({ headers } = await createGiven(app).administrator());
    const resolvers = { key: 'acme.dns_resolvers', value: named.resolver };
    expect((await app.send('POST', '/settings', resolvers, headers)).status).toBe(200);
  }, 120_000);
  afterAll(async () => {
    await app?.stop();
    await pebble?.stop();
    await named?.stop();
  });

  const account = () => ({
    name: 'Pebble',
    directory_url: pebble.directoryUrl,
    ca_certificate: pebble.ca,
    terms_agreed: true,
  });

  test('need an account; a host that wants a certificate by itself says so', async () => {
    const { status, body } = await order(app, { names: ['a.zone.test'] });
    expect(status).toBe(400);
    expect(body.error).toMatch(/^account_id: there is no ACME account yet: add one by POST/);
    const host = { domain: 'warned.zone.test', forward_host: '127.0.0.1', forward_port: 9, auto_certificate: true };
    const { body: made } = await app.send<ProxyHost>('POST', '/proxy-hosts', host);
    expect(made.warnings).toContainEqual({
      field: 'auto_certificate',
      message: expect.stringMatching(/no ACME account yet/),
    });
    expect((await app.send<Certificate[]>('GET', '/certificates')).body).toEqual([]);
    await app.send('DELETE', `/proxy-hosts/${made.uuid}`);
  });

  test('of names that no certificate can have are refused with the name, and nothing is stored', async () => {
    expect((await app.send<AcmeAccount>('POST', '/acme/accounts', account())).status).toBe(201);
    const many = Array.from({ length: 101 }, (_, index) => `n${index}.zone.test`);
    for (const [body, message] of [
      [{ names: ['a.zone.test', 'b_c.zone.test'] }, /^names\[1\]: "b_c\.zone\.test" has an underscore/],
      [{ names: ['*.zone.test'] }, /^names\[0\]: .*only the challenge dns-01/],
      [{ names: ['*.zone.test'], challenge: 'dns-01' }, /^dns_provider_id is required/],
      [{ names: ['a.zone.test'], dns_provider_id: 99 }, /^dns_provider_id names no DNS provider/],
      [{ names: ['a.zone.test'], account_id: 99 }, /^account_id names no ACME account/],
      [{ names: ['a.zone.test', 'A.zone.test'] }, /^names\[1\]: .* twice/],
      [{ names: many }, /names/],
      [{ names: [] }, /names/],
      [{ names: ['nas.lan'], provider: 'internal', challenge: 'http-01' }, /^challenge has no use/],
      [{ names: ['bad name'], provider: 'internal' }, /^names\[0\]: /],
    ] as const) {
      const answer = await order(app, body);
      expect(answer.body.error).toMatch(message);
      expect(answer.status).toBe(400);
    }
    expect((await app.send<Certificate[]>('GET', '/certificates')).body).toEqual([]);
  });

  test('of a wildcard are proven by a record, which is taken away; the account and provider are in use then', async () => {
    const provider = await app.send<DnsProvider>('POST', '/dns-providers', {
      name: 'zone',
      type: 'rfc2136',
      fields: {
        nameserver: '127.0.0.1',
        port: String(named.port),
        tsig_key_name: named.key.name,
        tsig_secret: named.key.secret,
      },
    });
    expect(provider.body).toMatchObject({ name: 'zone' });
    const names = ['*.zone.test', 'zone.test'];
    const key = { 'idempotency-key': `wildcard-${kind}` };
    const wanted = { names, dns_provider_id: provider.body.id, key_type: 'p384' };
    const first = await app.send<{ certificate: Certificate }>('POST', '/certificates/order', wanted, key);
    expect(first.status).toBe(202);
    expect(first.headers.get('location')).toBe(`/api/v1/certificates/${first.body.certificate.id}`);
    const again = await app.send<{ certificate: Certificate }>('POST', '/certificates/order', wanted, key);
    expect(again.body).toEqual(first.body);
    const there = await settled(app, first.body.certificate.id, isThere);
    expect(there).toMatchObject({ domains: '*.zone.test,zone.test', problem: null });
    expect(there.source).toMatchObject({ challenge: 'dns-01', dns_provider: 'zone', account: 'Pebble' });
    expect(await named.textOf('_acme-challenge.zone.test')).toEqual([]);
    const [used] = (await app.send<AcmeAccount[]>('GET', '/acme/accounts')).body;
    const refused = await app.send<ErrorBody>('DELETE', `/acme/accounts/${used?.id}`);
    expect(refused).toMatchObject({ status: 409, body: { details: expect.stringContaining('*.zone.test') } });

    // Renewed in its place, with another key.
    const { body } = await app.send<HistoryEntry[]>('GET', `/certificates/${there.id}/history`);
    const entries = body.length;
    expect((await app.send('POST', `/certificates/${there.id}/renew`)).status).toBe(202);
    await until(
      'it is renewed',
      async () => {
        const { last_attempt_at } = (await app.send<Certificate>('GET', `/certificates/${there.id}`)).body;
        return last_attempt_at !== there.last_attempt_at || undefined;
      },
      SOON_MS,
    );
    expect((await settled(app, there.id, isThere)).uuid).toBe(there.uuid);
    expect(entries).toBeGreaterThan(0);
  });

  test('are revoked for who proves to be it, and had anew with another key; nothing brings a revoked one back', async () => {
    const names = ['revoked.zone.test'];
    const { body: ordered } = await order(app, { names, dns_provider_id: 1 });
    const { id } = ordered.certificate;
    await settled(app, id, isThere);
    const leaf = async () => new X509Certificate((await app.send<string>('GET', `/certificates/${id}/download`)).body);
    const revoke = (body: object, as?: Record<string, string>, which = id) =>
      app.send<RevokedCertificate & ErrorBody>('POST', `/certificates/${which}/revoke`, body, as);
    const first = await leaf();
    expect(await revoke({}, headers)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^password is required/) },
    });
    expect((await revoke({ password: 'not it' }, headers)).status).toBe(403);
    expect((await revoke({ reason: 'why' })).body.error).toMatch(/^reason/);
    expect(await pebble.statusOf(first.serialNumber)).toBe('Valid');

    const done = await revoke({ reason: 'key_compromise', password: PASSWORD }, headers);
    expect(done).toMatchObject({
      status: 200,
      body: { message: expect.stringMatching(/has revoked it; another one/) },
    });
    expect(await pebble.statusOf(first.serialNumber)).toBe('Revoked');
    const { body: audited } = await app.send<AuditEntry[]>('GET', '/audit-logs?limit=50', undefined, headers);
    const told = { serial: first.serialNumber, sha256: first.fingerprint256, reason: 'key_compromise' };
    expect(audited.find(({ action }) => action === 'certificate.revoke')).toMatchObject({ details: { after: told } });
    const anew = await settled(app, id, isThere);
    expect(anew.issue ?? '').not.toContain('revoked');
    const second = await leaf();
    expect(second.publicKey.equals(first.publicKey)).toBe(false);

    // One that nobody needs any more stays as it is, and is told wherever it is used.
    expect((await revoke({ reason: 'cessation_of_operation' })).body.certificate).toMatchObject({
      status: 'revoked',
      next_attempt_at: null,
    });
    expect(await pebble.statusOf(second.serialNumber)).toBe('Revoked');
    expect(await revoke({})).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/revoked already, on/) },
    });
    const { body: listed } = await app.send<Certificate[]>('GET', '/certificates?status=revoked');
    expect(listed).toEqual([
      expect.objectContaining({ id, issue: expect.stringMatching(/^The certificate was revoked/) }),
    ]);
    const host = { domain: names[0], forward_host: '127.0.0.1', forward_port: 9, ssl_forced: true };
    const { body: user } = await app.send<ProxyHost>('POST', '/proxy-hosts', host);
    const warned = expect.objectContaining({ field: 'ssl_forced', message: expect.stringMatching(/was revoked$/) });
    expect(user.warnings).toContainEqual(warned);
    const naming = await app.send<ProxyHost>('PUT', `/proxy-hosts/${user.uuid}`, { certificate_id: id });
    const named = expect.objectContaining({
      field: 'certificate_id',
      message: expect.stringMatching(/was revoked on/),
    });
    expect(naming.body.warnings).toContainEqual(named);
    await app.send('DELETE', `/proxy-hosts/${user.uuid}`);

    // A server that ended before it noted what the authority did.
    const database = openDatabase(app.config);
    await database.kysely.updateTable('certificates').set({ revoked_at: null }).where('id', '=', id).execute();
    await database.kysely.deleteFrom('revoked_certificates').execute();
    await database.stop();
    const known = await revoke({ reason: 'cessation_of_operation' });
    expect(known.body.message).toMatch(/^The authority had revoked it already; no other one is ordered/);

    // By way of an upload in its place, or of its deletion.
    const { certificate, key } = makeCertificate(names);
    const form = new FormData();
    form.append('certificate_file', new Blob([certificate]), 'c.pem');
    form.append('key_file', new Blob([key]), 'k.pem');
    const undo = async (uuid: string) => {
      const { body } = await app.send<HistoryEntry[]>('GET', `/certificates/${uuid}/history`);
      return app.send<ErrorBody>('POST', `/history/${body[0]?.id}/revert`, {}, headers);
    };
    const isRefused = { status: 409, body: { details: expect.stringMatching(/certificate of before was revoked/) } };
    const copy = await order(app, { names, dns_provider_id: 1 });
    await settled(app, copy.body.certificate.id, isThere);
    expect((await app.send('PUT', `/certificates/${id}`, form)).status).toBe(200);
    expect(await undo(anew.uuid)).toMatchObject(isRefused);
    expect((await revoke({})).body.error).toMatch(/^The certificate was uploaded/);
    await revoke({ reason: 'cessation_of_operation' }, undefined, copy.body.certificate.id);
    expect((await app.send('DELETE', `/certificates/${copy.body.certificate.id}`)).status).toBe(200);
    expect(await undo(copy.body.certificate.uuid)).toMatchObject(isRefused);
    await app.send('DELETE', `/certificates/${id}`);

    const { body: own } = await order(app, { names: ['printer.lan'], provider: 'internal' });
    await settled(app, own.certificate.id, isThere);
    expect(await revoke({}, undefined, own.certificate.id)).toMatchObject({
      status: 409,
      body: {
        error: expect.stringMatching(/can not revoke: it keeps no list/),
        details: expect.stringMatching(/^Renew it/),
      },
    });
  });

  test('that the authority can not be reached for wait, and are taken up once it can', async () => {
    const { body } = await order(app, { names: ['waits.zone.test'], challenge: 'dns-01', dns_provider_id: 1 });
    await settled(app, body.certificate.id, isThere);
    await pebble.stop();
    await app.send('POST', `/certificates/${body.certificate.id}/renew`);
    const failed = await settled(app, body.certificate.id, ({ steps }) =>
      steps.some(({ status, message }) => status === 'failed' && message.includes('could not be reached')),
    );
    // The old one is served on.
    expect(failed).toMatchObject({ status: 'valid', problem: null });
    expect(Date.parse(failed.next_attempt_at ?? '')).toBeGreaterThan(Date.parse(failed.last_attempt_at ?? ''));
  });

  test('come back with a backup: what they, their accounts and our own authority have stored is what a restore takes', async () => {
    const { body: own } = await order(app, { names: ['nas.lan'], provider: 'internal' });
    await settled(app, own.certificate.id, isThere);
    const { body: backup } = await app.send<Backup>('POST', '/backups', {}, headers);
    const restore = await app.send('POST', `/backups/${backup.name}/restore`, { dry_run: true }, headers);
    expect(restore).toMatchObject({ status: 200, body: { restored: false } });
  });
});
