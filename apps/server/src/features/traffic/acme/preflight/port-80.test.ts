import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { getSite } from '../../../../net/ask-site.ts';
import { checkPort } from './port-80.ts';

const own = { token: 'sallyport-preflight-x', keyAuthorization: 'sallyport-preflight-x.abc' };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
};

const check = (port: number, address = '127.0.0.1') =>
  checkPort('a.example.com', address, {
    port,
    own,
    get: (at, name, path) => getSite({ address: at, port, isTls: false }, name, AbortSignal.timeout(20_000), path),
  });

test('an address that gives the answer under this name is this proxy', async () => {
  const asked: (string | undefined)[] = [];
  const port = await serve(({ url, headers }, response) => {
    asked.push(headers.host, url);
    response.end(`${own.keyAuthorization}\n`);
  });
  expect(await check(port)).toMatchObject({ ok: true, blocks: false, fix: null });
  expect(asked).toEqual(['a.example.com', '/.well-known/acme-challenge/sallyport-preflight-x']);
});

test.each<[string, RequestListener, string]>([
  ['another server', (_, response) => response.writeHead(404, { server: 'other' }).end(), '404 (other)'],
  ['a redirect', (_, response) => response.writeHead(301, { location: 'https://x/' }).end(), '301 to https://x/'],
  ['a page for everything', (_, response) => response.end('<h1>Router</h1>'), '200'],
  ['the token alone', (_, response) => response.end(own.token), '200'],
  ['the answer as an error', (_, response) => response.writeHead(403).end(own.keyAuthorization), '403'],
])('%s is not this proxy', async (_, listener, told) => {
  const found = await check(await serve(listener));
  // On an address of this machine, the authority is sure to meet the same.
  expect(found).toMatchObject({ ok: false, blocks: true });
  expect(found.message).toContain(`with ${told}: that is not this proxy`);
});

test('what another server says of itself is shown without what steers a terminal', async () => {
  const found = await check(
    await serve((_, response) => response.writeHead(302, { location: 'x\u0085y', server: 'a\tb' }).end()),
  );
  expect(found.message).toContain('302 (a b) to x y');
});

test('nothing that answers is told with the reason', async () => {
  const port = await serve(() => {});
  for (const close of closing.splice(0)) close();
  expect(await check(port)).toMatchObject({ ok: false, message: expect.stringContaining('connection refused') });
});

test('an address that is not of this machine may look different from outside', async () => {
  const found = await checkPort('a.example.com', '9.9.9.9', {
    port: 80,
    own,
    get: async () => {
      throw new Error('no answer within 10 seconds');
    },
  });
  expect(found).toMatchObject({ ok: false, blocks: false, fix: expect.stringContaining('the order is tried') });
});

test('an address of this machine is one of its own, loopback or not', async () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  for (const address of ['::1', '127.9.9.9', ...own.filter((one) => !/^fe80|^169\.254/i.test(one))]) {
    const found = await checkPort('a.example.com', address, {
      ...{ port: 80, own: { token: 't', keyAuthorization: 'k' } },
      get: () => Promise.reject(new Error('connection refused')),
    });
    expect([address, found.blocks]).toEqual([address, true]);
  }
});

test('metadata services are not asked', async () => {
  const found = await checkPort('a.example.com', '169.254.169.254', {
    port: 80,
    own,
    get: async () => {
      throw new Error('was asked');
    },
  });
  expect(found).toMatchObject({ ok: false, blocks: true, message: expect.stringContaining('is not asked') });
});
