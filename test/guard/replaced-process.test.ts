import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePort } from '../support/free-ports.ts';
import { connectInFrames } from '../support/http2-frames.ts';
import { createProduct, type Product } from '../support/product.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

let product: Product;
let origin: TestOrigin;
let host = '';
let token = '';
const { send: call } = createApiCaller(
  () => product.api,
  () => token,
);

beforeAll(async () => {
  const [api, http, https] = [await freePort(), await freePort(), await freePort()];
  product = createProduct({ api, http, https });
  origin = await startOrigin();
  await product.start();
  const account = { email: 'ada@example.com', password: 'correct horse battery staple' };
  await call('POST', '/setup', { name: 'Ada', ...account });
  token = (await call<{ token: string }>('POST', '/auth/login', account)).body.token;
  const body = { domain: 'shop.test', forward_host: '127.0.0.1', forward_port: origin.port };
  host = (await call<{ uuid: string }>('POST', '/proxy-hosts', body)).body.uuid;
  expect(await call('POST', '/security/config', { name: 'default', admin_whitelist: '192.0.2.1' })).toMatchObject({
    status: 200,
  });
  await call('POST', '/security/enable', {});
  await call('POST', '/settings', { key: 'security.rate_limit.enabled', value: 'true' });
}, 60_000);
afterAll(async () => {
  await product.stop('SIGTERM');
  await product.remove();
  await origin.stop();
});

test('who keeps a request running in a process that a reload replaced gets nothing more by its old rules', async () => {
  const request = (method: string, ...more: [string, string][]): [string, string][] => [
    [':method', method],
    [':scheme', 'https'],
    [':path', '/'],
    [':authority', 'shop.test'],
    ...more,
  ];
  const connection = await connectInFrames(product.ports.https);
  expect(await connection.ask(request('GET'))).toMatchObject({
    refused: false,
    body: expect.stringContaining('"GET"'),
  });
  const upload = connection.ask(request('POST', ['content-length', '4']), false);
  await call('POST', '/security/config', { name: 'default', rate_limit_window_sec: 77 });
  await connection.goodbye;
  expect(await call('PUT', `/proxy-hosts/${host}`, { enabled: false })).toMatchObject({ status: 200 });
  const arrived = origin.arrivals.length;
  expect(await connection.ask(request('GET'))).toEqual({ body: '', refused: true });
  expect(origin.arrivals).toHaveLength(arrived);
  // What runs goes on.
  expect(await Promise.race([upload, Promise.resolve('runs')])).toBe('runs');
  connection.close();
});
