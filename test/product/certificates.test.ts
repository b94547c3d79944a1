import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AcmeAccount, Certificate, CertificateInUse, ProxyHost, SignedIn } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { sallyport } from '../support/sallyport-command.ts';
import { servedCertificate } from '../support/served-certificate.ts';
import { type Pebble, startPebble } from '../support/start-pebble.ts';
import { until } from '../support/until.ts';

/** Generous: two cores do the work of twenty. */
const SOON_MS = 120_000;

/** Token of who may change settings; nobody before `beforeAll` made one. */
let administrator: string | undefined;

const send = <T>(product: Product, method: string, path: string, body?: object): Promise<T> =>
  createApiCaller(
    () => product.api,
    () => administrator,
  ).call<T>(method, path, body);

/** What was asked of authorities, and what came of it. */
const asked = (dataDir: string): { names: string; outcome: string }[] => {
  const store = new DatabaseSync(join(dataDir, 'sallyport.db'), { readOnly: true });
  try {
    const rows = store.prepare('select names, outcome from order_ledger order by id').all();
    return rows.map(({ names, outcome }) => ({ names: String(names), outcome: String(outcome) }));
  } finally {
    store.close();
  }
};

describe('certificates that come and renew by themselves', () => {
  let pebble: Pebble;
  let product: Product;
  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    [pebble] = await Promise.all([startPebble({ httpPort: http, badNonces: 50 }), product.start()]);
    const credentials = { email: 'ada@example.com', password: 'correct horse battery' };
    const { token } = await send<SignedIn>(product, 'POST', '/setup', credentials);
    administrator = token;
    for (const setting of pebble.settings) await send(product, 'POST', '/settings', setting);
    await send<AcmeAccount>(product, 'POST', '/acme/accounts', {
      name: 'Pebble',
      directory_url: pebble.directoryUrl,
      ca_certificate: pebble.ca,
      terms_agreed: true,
    });
  }, 180_000);
  afterAll(async () => {
    await product?.remove();
    await pebble?.stop();
  });

  const order = async (body: object) =>
    (await send<{ certificate: Certificate }>(product, 'POST', '/certificates/order', body)).certificate;
  const read = (id: number) => send<CertificateInUse>(product, 'GET', `/certificates/${id}`);
  const settled = (id: number, wanted: (certificate: CertificateInUse) => boolean): Promise<CertificateInUse> =>
    until(
      `certificate ${id} is as wanted`,
      async () => {
        const certificate = await read(id);
        return wanted(certificate) ? certificate : undefined;
      },
      SOON_MS,
    );
  const isThere = ({ status, applied, steps }: CertificateInUse) =>
    status === 'valid' && applied && steps.at(-1)?.status === 'done';

  test('several names are ordered, proven by HTTP-01 through HAProxy, and served; half of all nonces are bad', async () => {
    const names = ['one.example.test', 'two.example.test'];
    const ordered = await order({ names });
    expect(ordered).toMatchObject({ status: 'pending', expires_at: null, applied: false });
    const there = await settled(ordered.id, isThere);
    expect(there).toMatchObject({ issue: null, problem: null, provider: 'letsencrypt' });
    expect(there.steps.map(({ status }) => status)).toEqual(there.steps.map(() => 'done'));
    expect(there.renew_after).not.toBeNull();
    const served = await servedCertificate(product.ports.https, 'two.example.test');
    expect(served.subjectAltName).toBe('DNS:one.example.test, DNS:two.example.test');

    // A renewal takes its place.
    await send(product, 'POST', `/certificates/${ordered.id}/renew`);
    await until(
      'another one is served',
      async () =>
        (await servedCertificate(product.ports.https, 'two.example.test')).serialNumber !== served.serialNumber ||
        undefined,
      SOON_MS,
    );
    expect((await settled(ordered.id, isThere)).expires_at).not.toBeNull();
  });

  test('a host with auto_certificate gets one by itself, also when it is off; another name has it ordered anew', async () => {
    const domain = 'auto.example.test,www.auto.example.test';
    const host = { domain, forward_host: '127.0.0.1', forward_port: 9, auto_certificate: true, enabled: false };
    const { uuid } = await send<ProxyHost>(product, 'POST', '/proxy-hosts', host);
    const find = async () =>
      (await send<Certificate[]>(product, 'GET', '/certificates')).filter(({ name }) => name === 'auto.example.test');
    const [first] = await until(
      'it is ordered and there',
      async () => {
        const found = await find();
        return found[0]?.status === 'valid' && found[0].applied ? found : undefined;
      },
      SOON_MS,
    );
    expect(first).toMatchObject({ domains: domain, source: { is_auto: true, challenge: 'http-01' } });

    await send(product, 'PUT', `/proxy-hosts/${uuid}`, { domain: `${domain},new.auto.example.test` });
    await until(
      'it has the new name',
      async () => (await find()).some(({ domains }) => domains.includes('new.auto.example.test')) || undefined,
      SOON_MS,
    );
    expect((await find()).map(({ id }) => id)).toEqual([first?.id]);
  });

  test('a name for here alone is certified by the internal authority', async () => {
    const host = { domain: 'nas.lan', forward_host: '127.0.0.1', forward_port: 9, auto_certificate: true };
    await send<ProxyHost>(product, 'POST', '/proxy-hosts', host);
    const served = await until(
      'it is served',
      async () => {
        const certificate = await servedCertificate(product.ports.https, 'nas.lan');
        return certificate.subjectAltName === 'DNS:nas.lan' && certificate.issuer.includes('Sallyport CA')
          ? certificate
          : undefined;
      },
      SOON_MS,
    );
    const days = (served.validToDate.getTime() - served.validFromDate.getTime()) / 86_400_000;
    expect(days).toBeGreaterThan(29);
  });

  test('what the authority refuses is told in its words with what to do, and not asked for again at once', async () => {
    const name = 'refused.example.test';
    // Whether that is so for the authority, too, can't be known from here.
    await pebble.dns.breakName(name);
    const proven = 'proven.example.test';
    const { id } = await order({ names: [proven, name] });
    const failed = await settled(id, ({ status }) => status === 'failed');
    expect(failed.issue).toMatch(/could not validate refused\.example\.test: .*open port 80 from the internet/s);
    expect(failed.problem).toMatchObject({ type: 'urn:ietf:params:acme:error:connection' });
    expect(failed.problem?.subproblems.map((one) => one.name)).toEqual([name]);
    expect(failed.steps.find(({ status }) => status === 'failed')?.name).toBe('validation');
    // The authority counts it for that name alone; the other one was proven.
    const counted = asked(product.dataDir).filter(({ names }) => names.includes(name));
    expect(counted).toEqual([
      { names: `${proven},${name}`, outcome: 'refused' },
      { names: name, outcome: 'failed' },
    ]);
    const pauseMs = Date.parse(failed.next_attempt_at ?? '') - Date.parse(failed.last_attempt_at ?? '');
    expect(pauseMs).toBeGreaterThanOrEqual(300_000);
    // Mended, and tried again by hand.
    await pebble.dns.mendName(name);
    await send(product, 'POST', `/certificates/${id}/renew`);
    expect(await settled(id, isThere)).toMatchObject({ issue: null, problem: null });
  });

  test('what is sure to fail is found before the authority is asked, and told with its fix', async () => {
    const name = 'elsewhere.example.test';
    // An address of this machine where nobody listens.
    await pebble.dns.setAddresses(name, ['127.0.0.9']);
    const { id } = await order({ names: [name] });
    const failed = await settled(id, ({ status }) => status === 'failed');
    expect(failed.steps.find(({ status }) => status === 'failed')?.name).toBe('preflight');
    expect(failed.issue).toMatch(/127\.0\.0\.9 was asked for elsewhere\.example\.test: connection refused\. Lead port/);
    expect(failed.problem).toBeNull();

    // The same from the command line, without an order.
    const { token } = await send<{ token: string }>(product, 'POST', '/tokens', { name: 'preflight', role: 'admin' });
    const tokenFile = join(product.dataDir, 'preflight-token');
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const args = ['certificate', 'preflight', name, 'one.example.test', '--token-file', tokenFile];
    const env = { SALLYPORT_HTTP_BIND: `127.0.0.1:${product.ports.api}` };
    const looked = await sallyport(product.dataDir, args, { env });
    expect(looked).toMatchObject({ code: 1, err: expect.stringContaining('an order would fail') });
    const lines = looked.out.split('\n').filter((line) => /^(?:ok|NOT|doubt) /.test(line));
    const inTheWay = lines.filter((line) => !line.startsWith('ok'));
    expect(inTheWay).toEqual([
      expect.stringMatching(/^NOT +port-80 +elsewhere\.example\.test .*127\.0\.0\.9 .* Lead port/),
    ]);
    expect(lines).toContainEqual(expect.stringMatching(/^ok +port-80 +one\.example\.test/));
    expect(lines).toContainEqual(expect.stringMatching(/^ok +limits/));
  });
});
