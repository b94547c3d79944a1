import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { adminSocket } from '@sallyport/deployment/places';
import { createAdminSocket } from '@sallyport/haproxy';
import { reloadHaproxy } from '@sallyport/server/testing/parts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Origin, startOrigin } from '../support/haproxy/origins.ts';
import { ask, exchange } from '../support/http-client.ts';
import { isRoot } from '../support/is-root.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';

/** Requests per window. */
const LIMIT = 5;

const idOf = (file: string) =>
  Number(
    readFileSync(file, 'utf8')
      .split('\n')
      .find((line) => line.startsWith('haproxy:'))
      ?.split(':')[2],
  );

/** A number of /proc/<pid>/status. */
const statusOf = (pid: number, field: string): string =>
  new RegExp(`^${field}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...filesBelow(path)] : [path];
  });

// Debian's package makes the account; another user can't hand HAProxy over to it.
describe.runIf(isRoot)('HAProxy started by root', () => {
  let product: Product;
  let origin: Origin;
  let token: string;

  const { call } = createApiCaller(
    () => product.api,
    () => token,
  );
  const config = (fields: object) =>
    call('POST', '/security/config', { name: 'default', waf_mode: 'block', admin_whitelist: '192.0.2.1', ...fields });
  const set = (key: string, value: string) => call('POST', '/settings', { key, value });

  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    origin = await startOrigin('a', (_request, response) => response.end('a'));
    await product.start();
    const setup = { email: 'admin@example.com', password: 'correct horse battery' };
    ({ token } = await call<{ token: string }>('POST', '/setup', setup));
    const host = { forward_host: '127.0.0.1', forward_port: origin.port };
    await call('POST', '/proxy-hosts', { ...host, domain: 'plain.test', waf_enabled: false });
    await call('POST', '/proxy-hosts', { ...host, domain: 'judged.test' });
    await call('POST', '/proxy-hosts', { ...host, domain: 'relayed.test', waf_inspect_responses: true });
    await config({
      waf_rules_source: 'owasp',
      rate_limit_requests: LIMIT,
      rate_limit_burst: 0,
    });
    await set('feature.guard.enabled', 'true');
  });
  afterAll(async () => {
    await product.stop('SIGTERM');
    await product.remove();
    await origin.stop();
  });

  const expectConfined = () => {
    const { 'haproxy worker': worker, 'haproxy master': master } = product.pids();
    expect(statusOf(master, 'Uid')).toBe('0');
    expect(statusOf(worker, 'Uid')).toBe(String(idOf('/etc/passwd')));
    expect(statusOf(worker, 'Gid')).toBe(String(idOf('/etc/group')));
    expect(statusOf(worker, 'CapPrm')).toMatch(/^0+$/);
    expect(readlinkSync(`/proc/${worker}/root`)).toBe(join(product.dataDir, 'run'));
  };

  const answerOf = async (domain: string) => {
    const { status, body } = await ask({ port: product.ports.http, host: domain });
    return status === 200 ? body : status;
  };

  test('keeps no rights and no file system, and is left nothing but the sockets it connects to', () => {
    expectConfined();
    const open = filesBelow(product.dataDir).filter((path) => (lstatSync(path).mode & 0o077) !== 0);
    expect(
      open
        .map((path) => relative(product.dataDir, path))
        .filter((path) => !/\d|gate/.test(path))
        .sort(),
    ).toEqual(['run', 'run/api.sock', 'run/log.sock', 'run/peers.sock']);
    for (const path of open) {
      expect(path).toMatch(/\/run(\/(api|gate|log|peers|guard-\d+|relay-\d+)\.sock)?$/);
      const { mode, uid, gid } = lstatSync(path);
      // Nothing for others; the directory can be passed through, not listed or written.
      expect([mode & 0o777, uid, gid]).toEqual([path.endsWith('/run') ? 0o710 : 0o660, 0, idOf('/etc/group')]);
    }
    expect(lstatSync(product.dataDir).mode & 0o777).toBe(0o700);
  });

  test('reaches guards and relays, also after it was killed', async () => {
    await set('security.waf.enabled', 'true');
    for (const domain of ['judged.test', 'relayed.test']) expect(await answerOf(domain)).toBe('a');
    const before = product.pids();
    product.kill('haproxy worker');
    await until('HAProxy is back', async () => {
      const isNew = product.pids()['haproxy worker'] !== before['haproxy worker'];
      return isNew && (await answerOf('judged.test').catch(() => undefined)) === 'a';
    });
    expectConfined();
    expect(await answerOf('relayed.test')).toBe('a');
  });

  test('hands what must not be repeated to itself', async () => {
    const head = (method: string) => `${method} / HTTP/1.1\r\nHost: judged.test\r\nContent-Length: 0\r\n`;
    const bytes = `${head('GET')}\r\n${head('POST')}Connection: close\r\n\r\n`;
    const answers = await exchange(product.ports.http, bytes);
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  test('tells the server what it refuses, and hands its counters to the process of a reload', async () => {
    const live = new WebSocket(`${product.api.replace('http', 'ws')}/logs/live`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await once(live, 'open');
    const told = new Promise<string>((resolve) =>
      live.on('message', (data) => String(data).includes('too many requests') && resolve(String(data))),
    );
    await set('security.rate_limit.enabled', 'true');
    const answers = async (count: number) => {
      const seen = [];
      for (let index = 0; index < count; index++) seen.push(await answerOf('plain.test'));
      return seen;
    };
    expect((await answers(LIMIT + 1)).at(-1)).toBe(429);
    expect(await told).toContain('plain.test');
    live.close();

    const socket = createAdminSocket({ path: adminSocket(product.dataDir) });
    // A process hands on what it has once it has given up waiting for a predecessor's counters (the flags' low bits).
    await until('HAProxy has settled', async () => {
      const peers = await socket.ask({ words: ['show', 'peers'] });
      return (Number(/id=local .*flags=(0x\w+)/.exec(peers)?.[1]) & 3) === 3;
    });
    const before = product.pids()['haproxy worker'];
    await reloadHaproxy(product.dataDir);
    await until('the old process is gone', () => {
      const { 'haproxy worker': worker } = product.pids();
      return worker !== 0 && worker !== before;
    });
    expectConfined();
    const counters = () => socket.ask({ words: ['show', 'table', 'requests'] });
    await until('the new process has the counters', async () => (await counters()).includes('http_req_rate('));
    await set('security.rate_limit.enabled', 'false');
    for (const domain of ['judged.test', 'relayed.test']) expect(await answerOf(domain)).toBe('a');
  });
});
