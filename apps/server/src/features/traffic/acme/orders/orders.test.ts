import type {
  AcmeAccount,
  Backup,
  Certificate,
  CertificateInUse,
  DnsProvider,
  ErrorBody,
  HistoryEntry,
  ProxyHost,
} from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Named, startNamed } from '../../../../../../../test/support/start-named.ts';
import { type Pebble, startPebble } from '../../../../../../../test/support/start-pebble.ts';
import { until } from '../../../../../../../test/support/until.ts';
import { createGiven } from '../../../../testing/given-accounts.ts';
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
