import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RestoreReport } from '@sallyport/contract';
import { proxyDirectory } from '@sallyport/deployment/places';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const STUCK = 'a restored store is not in force yet';
const TOKEN = 'e'.repeat(64);
let product: Product;
let origin: Server;
let bearer = '';

const { call } = createApiCaller(
  () => product.api,
  () => bearer,
);

const status = async (): Promise<number> => (await ask({ port: product.ports.http, host: 'site.test' })).status;

beforeAll(async () => {
  const [api = 0, http = 0, https = 0] = await freePorts(3);
  product = createProduct({ api, http, https }, undefined, { SALLYPORT_EMERGENCY_TOKEN: TOKEN });
  origin = createServer((_request, response) => response.end('fine'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  await product.start();
  const admin = { email: 'admin@example.com', password: 'correct horse battery' };
  bearer = (await call<{ token: string }>('POST', '/setup', admin)).token;
  const { port } = origin.address() as AddressInfo;
  await call('POST', '/proxy-hosts', { domain: 'site.test', forward_host: '127.0.0.1', forward_port: port });
  await call('POST', '/security/config', { admin_whitelist: '127.0.0.200' });
  await call('POST', '/settings', { key: 'feature.guard.enabled', value: 'true' });
});
afterAll(async () => {
  await product.remove();
  origin.close();
});

test('a restore that can not come into force does not keep an emergency reset from opening the proxy', async () => {
  await until('the host is served', async () => (await status()) === 200);
  const { name } = await call<{ name: string }>('POST', '/backups', {});
  const map = join(proxyDirectory(product.dataDir), dataPlaneFiles.whitelistMap);
  // As on a disk that can't be written to: no file takes the place of a directory.
  renameSync(map, `${map}.away`);
  mkdirSync(map);
  const restored = call<RestoreReport>('POST', `/backups/${name}/restore`, {});
  // Awaited at the end; a failure before that is the one to be told.
  restored.catch(() => {});
  await until('the proxy is closed', async () => (await status()) === 503);

  const reset = await fetch(`${product.api}/emergency/security-reset`, {
    method: 'POST',
    headers: { 'x-emergency-token': TOKEN },
  });
  expect(reset.status).toBe(200);
  await until('the proxy is open', async () => (await status()) === 200);
  // Two attempts begin and fail after that, and close nothing again.
  const failures = (): number => product.log().split(STUCK).length;
  const before = failures();
  await until('it was tried twice more', async () => {
    expect(await status()).toBe(200);
    return failures() >= before + 2;
  });

  rmdirSync(map);
  expect(await restored).toMatchObject({ restored: true });
  expect(await status()).toBe(200);
});
