import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProxyHost, RestoreReport } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct, type Product } from '../support/product.ts';
import { type Postgres, startPostgres } from '../support/start-postgres.ts';
import { until } from '../support/until.ts';

/** Who may visit nothing in either state. */
const STRANGER = '127.0.0.9';
/** Who is banned in both states, and who was banned after both were backed up. */
const BANNED = ['127.0.0.7', '127.0.0.8'];
const NEVER_LET_IN = [STRANGER, ...BANNED];
const RULE = 'SecRule REQUEST_URI "@contains attack" "id:900901,phase:1,deny,status:403"';

/** Whose API is called. */
let product: Product;
/** Whose proxy is visited. */
let visited: Product;
let origin: Server;
let token: string;
/** What reached the origin that neither state lets through. */
let trespassers: string[] = [];

const { call } = createApiCaller(
  () => product.api,
  () => token,
);

const put = (key: string, value: string) => call('POST', '/settings', { key, value });

const visit = async (host: string, path: string, from: string): Promise<number> => {
  const answer = await ask({ port: visited.ports.http, host, path, from, headers: { 'x-from': from } });
  return answer.status;
};

const addHost = (domain: string, more: object) => {
  const { port } = origin.address() as AddressInfo;
  return call<ProxyHost>('POST', '/proxy-hosts', {
    domain,
    forward_scheme: 'http',
    forward_host: '127.0.0.1',
    forward_port: port,
    block_exploits: false,
    ...more,
  });
};

const names = async (): Promise<string[]> =>
  (await call<ProxyHost[]>('GET', '/proxy-hosts')).map(({ domain }) => domain).sort();

/**
 * Asks for what neither state allows until stopped, by many clients at once; returns how many were asked. `pauseMs`: of each client
 * between two requests; without one they would have the processors that the restore needs.
 */
const trespass = (pauseMs = 5) => {
  let isOver = false;
  let asked = 0;
  const hosts = ['both.test', 'first.test', 'second.test'];
  const clients = hosts.flatMap((host) =>
    NEVER_LET_IN.map(async (from) => {
      while (!isOver) {
        // HAProxy may be between two processes.
        await visit(host, '/attack', from).catch(() => undefined);
        asked += 1;
        await delay(pauseMs);
      }
    }),
  );
  return async (): Promise<number> => {
    isOver = true;
    await Promise.all(clients);
    return asked;
  };
};

const restore = (name: string, more: object = {}) => call<RestoreReport>('POST', `/backups/${name}/restore`, more);

/** In the first state an access list keeps strangers out, in the second one rules keep attacks out. */
const FIRST = ['both.test', 'first.test'];
const SECOND = ['both.test', 'second.test'];
let first: string;
let second: string;

const configure = async () => {
  origin = createServer((request, response) => {
    if (request.url?.includes('attack')) trespassers.push(`${request.headers.host} ${request.headers['x-from']}`);
    response.end('origin');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const admin = { email: 'root@example.com', password: 'a long pass phrase' };
  ({ token } = await call<{ token: string }>('POST', '/setup', admin));

  const list = await call<{ id: number }>('POST', '/access-lists', {
    name: 'no strangers',
    type: 'deny',
    rules: [{ cidr: `${STRANGER}/32`, description: '' }],
  });
  await call('POST', '/security/rulesets', { name: 'ours', mode: 'custom', content: RULE });
  await call('POST', '/security/config', {
    waf_rules_source: 'ours',
    waf_mode: 'block',
    admin_whitelist: '127.0.0.200',
  });
  await put('security.acl.enabled', 'true');
  await put('feature.guard.enabled', 'true');
  const ban = (ip: string | undefined) => call('POST', '/security/decisions', { ip, action: 'block' });
  await ban(BANNED[0]);
  const both = await addHost('both.test', { access_list_id: list.id, waf_enabled: false });
  const only = await addHost('first.test', { access_list_id: list.id, waf_enabled: false });
  first = (await call<{ name: string }>('POST', '/backups', {})).name;

  await put('security.waf.enabled', 'true');
  await call('PUT', `/proxy-hosts/${both.uuid}`, { access_list_id: null, waf_enabled: true });
  await put('security.acl.enabled', 'false');
  await call('DELETE', `/proxy-hosts/${only.uuid}`);
  await addHost('second.test', { waf_enabled: true });
  second = (await call<{ name: string }>('POST', '/backups', {})).name;
  await ban(BANNED[1]);
};

const createNode = async (databaseUrl?: string): Promise<Product> => {
  const [api = 0, http = 0, https = 0] = await freePorts(3);
  return createProduct({ api, http, https }, databaseUrl, {
    // Sign-ins outlive the server that is killed.
    SALLYPORT_SESSION_SECRET: 'a secret that is long enough for sessions',
    SALLYPORT_ENCRYPTION_KEY: 'a key that is long enough, and the same on every node',
  });
};

describe('a restore', () => {
  beforeAll(async () => {
    product = await createNode();
    visited = product;
    await product.start();
    await configure();
  });
  afterAll(async () => {
    await product?.remove();
    origin?.close();
  });

  test('tells what it would change, and changes nothing, when it is only tried', async () => {
    expect(await restore(first, { dry_run: true })).toEqual({
      restored: false,
      changes: {
        proxy_hosts: { added: 1, changed: 1, removed: 1 },
        settings: { added: 0, changed: 1, removed: 1 },
      },
    });
    expect(await names()).toEqual(SECOND);
  });

  test('lets nothing through that neither state allows, in both directions', async () => {
    trespassers = [];
    const stop = trespass();
    for (let round = 0; round < 3; round += 1) {
      expect(await restore(first)).toMatchObject({ restored: true });
      expect(await names()).toEqual(FIRST);
      expect(await visit('first.test', '/', '127.0.0.1')).toBe(200);
      expect(await visit('second.test', '/', '127.0.0.1')).toBe(404);
      expect(await visit('both.test', '/', STRANGER)).toBe(403);
      for (const banned of BANNED) expect(await visit('first.test', '/', banned)).toBe(403);
      expect(await restore(second)).toMatchObject({ restored: true });
      expect(await names()).toEqual(SECOND);
      await until('rules are in force', async () => (await visit('both.test', '/', STRANGER)) === 200);
      expect(await visit('second.test', '/attack', '127.0.0.1')).toBe(403);
      for (const banned of BANNED) expect(await visit('second.test', '/', banned)).toBe(403);
    }
    expect(await stop()).toBeGreaterThan(100);
    expect(trespassers).toEqual([]);
  });

  test('is whole or not there when the server is killed in the middle of it', async () => {
    trespassers = [];
    // Most of the time a server that was killed starts again.
    const stop = trespass(15);
    for (const after of [5, 60, 130, 200, 300, 450]) {
      const to = (await names()).join() === FIRST.join() ? second : first;
      const underway = restore(to).catch(() => undefined);
      await delay(after);
      product.kill('server');
      await underway;
      await until(
        'the server is back',
        async () => (await fetch(`${product.api}/health`).catch(() => undefined))?.ok === true,
        60_000,
      );
      const now = await names();
      expect([FIRST.join(), SECOND.join()]).toContain(now.join());
      const isFirst = now.join() === FIRST.join();
      await until(
        'all of it is in force',
        async () => {
          const stranger = await visit('both.test', '/', STRANGER);
          const attack = await visit('both.test', '/attack', '127.0.0.1');
          const gone = await visit(isFirst ? 'second.test' : 'first.test', '/', '127.0.0.1');
          return stranger === (isFirst ? 403 : 200) && attack === (isFirst ? 200 : 403) && gone === 404;
        },
        60_000,
      );
    }
    await stop();
    // From 127.0.0.1 it is the first state that lets it through.
    expect(trespassers.filter((who) => NEVER_LET_IN.some((one) => who.endsWith(one)))).toEqual([]);
  });
});

describe('a restore by another node', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
    product = await createNode(postgres.url);
    visited = await createNode(postgres.url);
    await product.start();
    await visited.start();
    await configure();
  });
  afterAll(async () => {
    await visited?.remove();
    await product?.remove();
    await postgres?.stop();
    origin?.close();
  });

  test('lets nothing through here that neither state allows', async () => {
    const follows = (isFirst: boolean) =>
      until(
        'this node follows',
        async () =>
          (await visit('both.test', '/', STRANGER)) === (isFirst ? 403 : 200) &&
          (await visit(isFirst ? 'first.test' : 'second.test', '/', '127.0.0.1')) === 200 &&
          (await visit(isFirst ? 'second.test' : 'first.test', '/', '127.0.0.1')) === 404,
        60_000,
      );
    await follows(false);
    trespassers = [];
    const stop = trespass();
    for (let round = 0; round < 3; round += 1) {
      await restore(first);
      await follows(true);
      await restore(second);
      await follows(false);
    }
    expect(await stop()).toBeGreaterThan(100);
    expect(trespassers).toEqual([]);
  });
});
