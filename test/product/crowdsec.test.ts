import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CrowdsecStatus, Decision, LogEntry } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';

/** The whole product with the real CrowdSec of Debian: what clients ask of the proxy, and who is banned for it. */

const administrator = { email: 'admin@example.com', password: 'correct horse battery' };
/** A machine that runs other tests as well takes its time. */
const WITHIN_MS = 60_000;

let product: Product;
let origin: Server;
let told: LogEntry[];
let live: WebSocket | undefined;
/** Of the administrator, for what needs one. */
let token = '';

const { call: send } = createApiCaller(
  () => product.api,
  () => token,
);

const status = (): Promise<CrowdsecStatus> => send('GET', '/admin/crowdsec/status');

const bans = async (): Promise<string[]> => {
  const { decisions } = await send<{ decisions: Decision[] }>('GET', '/security/decisions?source=crowdsec');
  return decisions.map(({ ip }) => ip).sort();
};

/** One request of the client with this address; resolves to the status of its answer. */
const statusOf = async (from: string, path: string, headers: Record<string, string> = {}): Promise<number> =>
  (await ask({ port: product.ports.http, host: 'site.test', path, from, headers })).status;

/** Looks for what is not there until it is refused for being banned. */
const scan = (from: string, headers: Record<string, string> = {}): Promise<true> => {
  let count = 0;
  return until(
    `${from} is banned`,
    async () => {
      for (let index = 0; index < 5; index += 1) {
        count += 1;
        if ((await statusOf(from, `/missing-${count}.php`, headers)) === 403) return true;
      }
      return undefined;
    },
    WITHIN_MS,
  );
};

const isSeen = (): Promise<unknown> =>
  until('the traffic is seen', async () => (await status()).traffic.told, WITHIN_MS);

beforeAll(async () => {
  origin = createServer((incoming, response) => {
    response.statusCode = incoming.url?.startsWith('/missing') ? 404 : 200;
    response.end('hello');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const [api = 0, http = 0, https = 0, crowdsec = 0] = await freePorts(4);
  product = createProduct({ api, http, https }, undefined, { SALLYPORT_CROWDSEC_PORT: String(crowdsec) });
  await product.start();
  const { port } = origin.address() as AddressInfo;
  ({ token } = await send<{ token: string }>('POST', '/setup', administrator));
  await send('POST', '/proxy-hosts', { domain: 'site.test', forward_host: '127.0.0.1', forward_port: port });
  await send('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
  await send('POST', '/security/enable');
  await send('POST', '/settings', { key: 'security.crowdsec.enabled', value: 'true' });
  told = [];
  live = new WebSocket(`${product.api.replace('http', 'ws')}/logs/live?source=crowdsec`);
  live.on('message', (text) => told.push(JSON.parse(String(text)) as LogEntry));
  // What is read without a session goes on when sessions end with the server.
  token = '';
  await send('POST', '/admin/crowdsec/start');
  await isSeen();
  await until('its scenarios are loaded', async () => (await status()).acquisition.length > 0, WITHIN_MS);
}, 120_000);
afterAll(async () => {
  live?.terminate();
  await product.remove();
  origin.close();
});

test('a scan through the proxy is banned, and told; nobody can have somebody else banned by what he sends', async () => {
  const victim = '127.0.0.50';
  const line = `${victim} - - [22/Nov/2026:10:00:00 +0000] "GET /x.php HTTP/1.1" 404 0 "-" "sqlmap"`;
  const forged = [line, `"${line}`, `" ${line}`];
  const headers = { 'user-agent': `${forged.join(' ')} sqlmap` };
  for (const text of forged)
    await statusOf('127.0.0.60', `/missing?${encodeURI(text).replaceAll('%22', '"')}`, headers);
  await scan('127.0.0.60', headers);
  expect(await bans()).toEqual(['127.0.0.60']);
  expect(await statusOf(victim, '/fine')).toBe(200);
  await until('it is told', () => told.some(({ fields }) => fields.ip === '127.0.0.60'), WITHIN_MS);
  const { traffic, issue } = await status();
  expect(issue).toBeNull();
  expect(traffic.lines_written).toBeGreaterThan(10);
  await until('all is read', async () => (await status()).traffic.lines_unread === 0, WITHIN_MS);
});

test('the log may be deleted', async () => {
  rmSync(join(product.dataDir, 'crowdsec/log/access.log'));
  await scan('127.0.0.61');
});

test('another server and another CrowdSec see it as well', async () => {
  const { pid } = await status();
  process.kill(pid ?? 0, 'SIGKILL');
  await until(
    'another CrowdSec reads',
    async () => {
      const now = await status();
      return now.pid !== null && now.pid !== pid && now.acquisition.length > 0;
    },
    WITHIN_MS,
  );
  await scan('127.0.0.62');
  const { server } = product.pids();
  product.kill('server');
  await until('another server runs', () => product.pids().server !== server && product.pids().server !== 0, WITHIN_MS);
  await until('CrowdSec reads', async () => (await status().catch(() => undefined))?.acquisition.length, WITHIN_MS);
  await isSeen();
  await scan('127.0.0.63');
});

test('once it is stopped, HAProxy tells no more than before', async () => {
  await send('POST', '/admin/crowdsec/stop');
  expect((await status()).traffic.told).toBe(false);
  expect(readFileSync(join(product.dataDir, 'haproxy/haproxy.cfg'), 'utf8')).not.toContain('ring traffic');
  expect(existsSync(join(product.dataDir, 'haproxy/tells-traffic'))).toBe(false);
});
