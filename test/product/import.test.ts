import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ImportOutcome, ImportPreview, ImportSession, ImportVerification } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { makeCertificate, uploadForm } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { sallyport } from '../support/sallyport-command.ts';
import { startCaddy } from '../support/start-caddy.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const SITES = 10_000;

let product: Product;
let origin: Server;
let port: number;

beforeAll(async () => {
  let visits = 0;
  origin = createServer(({ url, headers }, response) => {
    visits += 1;
    const isLively = headers.host?.startsWith('lively.') ?? false;
    // Caddy would guess it.
    response.setHeader('content-type', 'text/plain');
    response.end(isLively ? `visit ${visits}` : `the origin at ${url}`);
  });
  await new Promise<void>((resolve) => {
    origin.listen(0, '127.0.0.1', resolve);
  });
  port = (origin.address() as AddressInfo).port;
  const [api = 0, http = 0, https = 0] = await freePorts(3);
  product = createProduct({ api, http, https });
  await product.start();
});
afterAll(async () => {
  await product?.remove();
  origin?.close();
});

const { call } = createApiCaller(() => product.api);

const visit = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: product.ports.http, headers: { host }, agent: false },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      },
    );
    sent.on('error', reject);
    sent.end();
  });

const site = (domain: string) => `http://${domain} {\n\treverse_proxy 127.0.0.1:${port}\n}\n`;

test('the command shows what it would import, imports it, and asks about names that are taken', async () => {
  const directory = join(product.dataDir, 'caddy');
  mkdirSync(join(directory, 'sites'), { recursive: true });
  const [main, one, two] = ['Caddyfile', 'sites/one.caddy', 'sites/two.caddy'].map((name) => join(directory, name));
  writeFileSync(main as string, 'import sites/*.caddy\n');
  writeFileSync(one as string, site('one.example.com'));
  writeFileSync(two as string, site('two.example.com, http://zwei.example.com'));
  const env = { SALLYPORT_HTTP_BIND: `127.0.0.1:${product.ports.api}` };
  const run = (...args: string[]) => sallyport(product.dataDir, ['import', ...args], { env });
  const files = [main, one, two] as string[];

  const dry = await run('--dry-run', ...files);
  expect(dry).toMatchObject({ code: 0, err: '' });
  expect(dry.out).toMatch(/^read as: a Caddyfile$/m);
  expect(dry.out).toMatch(
    /^two\.example\.com,zwei\.example\.com +http:\/\/127\.0\.0\.1:\d+ +sites\/two\.caddy:1 +new$/m,
  );
  expect(await visit('one.example.com')).toBe(404);
  expect(await call('GET', '/import/status')).toEqual({ has_pending: false });

  expect(await run(...files)).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^2 imported, 0 skipped/m),
  });
  expect(await visit('zwei.example.com')).toBe(200);

  const taken = await run(one as string);
  expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('--on-conflict') });
  expect(taken.out).toContain('one.example.com belongs to one.example.com, which is the same');
  expect(await run('--on-conflict', 'keep', one as string)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^0 imported, 1 skipped, 0 failed$/m),
  });
  // As the import itself would end, where there are errors beside what is good.
  writeFileSync(one as string, `${site('three.example.com')}four.example.com {\n\treverse_proxy "\n`);
  const partly = await run('--dry-run', one as string);
  expect(partly).toMatchObject({ code: 1, err: expect.stringContaining('not all of it can be imported') });
  expect(partly.out).toMatch(/^three\.example\.com .* new$/m);
  writeFileSync(one as string, 'one.example.com {\n\treverse_proxy "\n');
  const broken = await run(one as string);
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('nothing that could be imported') });
  expect(broken.out).toMatch(/^one\.caddy:2:\d+ +\S/m);
  expect(await call('GET', '/import/status')).toEqual({ has_pending: false });
});

test('the old and the new proxy are compared, and what differs is told with what to do', async () => {
  const [http = 0, https = 0] = await freePorts(2);
  const directory = join(product.dataDir, 'old-proxy');
  mkdirSync(directory, { recursive: true });
  const keep = (name: string) => {
    const made = makeCertificate([`${name}.example.net`]);
    const files = ['crt', 'key'].map((kind) => join(directory, `${name}.${kind}`)) as [string, string];
    writeFileSync(files[0], made.certificate);
    writeFileSync(files[1], made.key);
    return { made, tls: `tls ${files.join(' ')}` };
  };
  const [moved, forgotten] = [keep('moved'), keep('forgotten')];
  const proxied = (more = '') => `{\n${more}\n\treverse_proxy 127.0.0.1:${port}\n}\n`;
  const sites = [
    `moved.example.net ${proxied(moved.tls)}`,
    `forgotten.example.net ${proxied(`${forgotten.tls}\nheader Strict-Transport-Security "max-age=63072000"`)}`,
    `http://plain.example.net ${proxied()}`,
    `http://*.wild.example.net ${proxied()}`,
    `http://lively.example.net ${proxied()}`,
    `http://rewritten.example.net ${proxied('rewrite * /elsewhere')}`,
    `http://guarded.example.net ${proxied('basicauth {\nbob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n}')}`,
    `http://down.example.net {\nreverse_proxy 127.0.0.1:${port}\n}\n`,
  ];
  const globals = `{\nadmin off\nhttp_port ${http}\nhttps_port ${https}\n}\n`;
  const caddy = await startCaddy(globals + sites.join(''), [http, https]);
  try {
    const response = await fetch(`${product.api}/certificates/upload`, {
      method: 'POST',
      body: uploadForm('moved', moved.made),
    });
    expect(response.status, await response.clone().text()).toBe(201);
    const content = sites.join('').replace(/(down\.example\.net [^}]*127\.0\.0\.1):\d+/, '$1:9');
    const { session } = await call<{ session: ImportSession }>('POST', '/import/upload', { content });
    const verify = (more: object = {}) =>
      call<ImportVerification>('POST', '/import/verify', {
        session: session.uuid,
        old_address: `http://127.0.0.1:${http}`,
        old_https_port: https,
        ...more,
      });
    await call('GET', '/import/preview');
    await expect(verify()).rejects.toThrow(/409 .*not committed/);
    expect(await call('POST', '/import/commit', { session_uuid: session.uuid })).toMatchObject({ imported: 8 });

    const verified = await verify();
    const told = verified.hosts.flatMap(({ name, differences }) =>
      differences.map(({ scheme, field, message }) => `${name.split('.')[0]} ${scheme} ${field}: ${message}`),
    );
    expect(told.sort()).toEqual([
      expect.stringMatching(/^down http status: .*is the origin reachable/),
      expect.stringMatching(/^forgotten https certificate: no certificate for forgotten\.example\.net here/),
      expect.stringMatching(/^guarded http status: the host is switched off here/),
      expect.stringMatching(/^rewritten http body: the content of/),
    ]);
    expect(verified).toMatchObject({ schemes: ['http', 'https'], asked: 8, same: 4, not_asked: [] });

    // One that was taken away since; and the address of our own proxy, or of nobody.
    const [gone] = await call<{ uuid: string }[]>('GET', '/proxy-hosts?search=plain.example.net');
    await call('DELETE', `/proxy-hosts/${gone?.uuid}`);
    const again = await verify({ hosts: ['plain.example.net', '*.wild.example.net'] });
    expect(again).toMatchObject({ asked: 2, same: 1, hosts: [{ name: 'plain.example.net' }] });
    expect(again.hosts[0]?.differences).toMatchObject([{ before: '200', now: '404' }]);
    await expect(verify({ hosts: ['a.example.org'] })).rejects.toThrow(/400 .*hosts\[0\]/);
    await expect(verify({ old_address: 'http://127.0.0.1/x' })).rejects.toThrow(/400 .*old_address must be/);
    await expect(verify({ old_address: `127.0.0.1:${product.ports.http}` })).rejects.toThrow(/403 .*own listeners/);
    await expect(verify({ old_address: '169.254.169.254' })).rejects.toThrow(/403 .*link-local/);
    await expect(verify({ session: crypto.randomUUID() })).rejects.toThrow(/404 /);

    const env = { SALLYPORT_HTTP_BIND: `127.0.0.1:${product.ports.api}` };
    const ports = ['--http-port', String(http), '--https-port', String(https)];
    const names = ['--host', 'forgotten.example.net', 'moved.example.net'];
    const args = ['import', 'verify', session.uuid, '127.0.0.1', ...ports, ...names];
    const table = await sallyport(product.dataDir, args, { env });
    expect(table).toMatchObject({ code: 1, err: expect.stringContaining('not all answers are the same') });
    expect(table.out).toMatch(/^forgotten\.example\.net +https +certificate .*upload it$/m);
    expect(table.out).toMatch(/^2 asked over http and https: 1 the same, 1 different$/m);
  } finally {
    await caddy.stop();
  }
});

test('what is exported is a file to change and to apply: it is live when the command ends', async () => {
  const env = { SALLYPORT_HTTP_BIND: `127.0.0.1:${product.ports.api}` };
  const run = (...args: string[]) => sallyport(product.dataDir, args, { env });
  const file = join(product.dataDir, 'sallyport.yaml');
  const exported = await run('export');
  expect(exported).toMatchObject({ code: 0, err: '', out: expect.stringContaining('\nsallyport: 1\n') });
  const more = `  - domain: code.example.com\n    forward_host: 127.0.0.1\n    forward_port: ${port}\n`;
  writeFileSync(file, exported.out.replace(/^proxy_hosts:.*\n/m, `proxy_hosts:\n${more}`));

  const dry = await run('apply', '--dry-run', file);
  expect(dry).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^create +proxy_hosts +code\.example\.com$/m),
  });
  expect(await visit('code.example.com')).toBe(404);
  expect(await run('apply', file)).toMatchObject({ code: 0, out: expect.stringContaining('history revert') });
  expect(await visit('code.example.com')).toBe(200);
  expect(await run('apply', '--prune', file)).toMatchObject({
    code: 0,
    out: expect.stringContaining('nothing to change'),
  });
  const json = await run('export', '--format', 'json');
  writeFileSync(file, json.out.replace('"code.example.com"', '"code.example.com,gone.example.com:1"'));
  expect(await run('apply', file)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/proxy_hosts\[\d\]\.domain "gone\.example\.com:1" must be a DNS name/),
  });
});

test(`${SITES} sites are live when the commit answers, and the API answers meanwhile`, async () => {
  const content = Array.from({ length: SITES }, (_, index) => site(`h${index}.example.com`)).join('');
  const { session } = await call<{ session: ImportSession }>('POST', '/import/upload', { content });
  expect(session.state).toBe('parsing');
  const preview = await call<ImportPreview>('GET', '/import/preview');
  expect(preview.hosts).toHaveLength(SITES);
  const committing = call<ImportOutcome>('POST', '/import/commit', { session_uuid: session.uuid });
  let isDone = false;
  const done = committing.finally(() => {
    isDone = true;
  });
  let answers = 0;
  while (!isDone) {
    await call('GET', '/health');
    answers += 1;
  }
  expect(await done).toMatchObject({ imported: SITES, failed: 0 });
  expect(answers).toBeGreaterThan(0);
  for (const index of [0, SITES / 2, SITES - 1]) expect(await visit(`h${index}.example.com`), `h${index}`).toBe(200);

  // Whatever the machine manages in a minute; the others are told.
  const verified = await call<ImportVerification>('POST', '/import/verify', {
    session: session.uuid,
    old_address: `http://127.0.0.1:${port}`,
  });
  expect(verified.hosts).toEqual([]);
  expect(verified.asked).toBeGreaterThan(0);
  expect(verified.asked).toBeLessThanOrEqual(1_000);
  expect(verified.asked + verified.not_asked.length).toBe(SITES);
});
