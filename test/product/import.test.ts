import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ImportOutcome, ImportPreview, ImportSession } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { sallyport } from '../support/sallyport-command.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const SITES = 10_000;

let product: Product;
let origin: Server;
let port: number;

beforeAll(async () => {
  origin = createServer((_, response) => response.end('the origin'));
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

const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const response = await fetch(product.api + path, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

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
  writeFileSync(one as string, 'one.example.com {\n\treverse_proxy "\n');
  const broken = await run(one as string);
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('nothing that could be imported') });
  expect(broken.out).toMatch(/^one\.caddy:2:\d+ +\S/m);
  expect(await call('GET', '/import/status')).toEqual({ has_pending: false });
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
});
