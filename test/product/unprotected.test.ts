import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { afterEach, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct, type Product } from '../support/product.ts';
import { type Postgres, startPostgres } from '../support/start-postgres.ts';

const ATTACK = `/?attack=${encodeURIComponent("1' or '1'='1' union select password from users--")}`;
const BANNED = '127.0.0.9';
/** Five clients ask 300 times a second: what a HAProxy lets through that starts from the wrong files, it does until it is told better. */
const PAUSE_MS = 15;

/**
 * Files that say what is enforced, below the data directory. Those that only make exceptions or say how long go together:
 * each start that fails is waited for longer.
 */
const groups = [
  [join('haproxy', dataPlaneFiles.switchesMap)],
  [join('haproxy', dataPlaneFiles.bansMap)],
  [
    ...[dataPlaneFiles.limitsMap, dataPlaneFiles.whitelistMap, dataPlaneFiles.bypassMap, 'rate-limit-window'].map(
      (file) => join('haproxy', file),
    ),
  ],
  [join('guard', 'config.json')],
];
const files = groups.flat();

/** An attack, a request to a host whose list admits nobody, and one of a banned client, again and again. */
const hammer = (node: Product) => {
  const { signal, abort } = ((controller) => ({ signal: controller.signal, abort: () => controller.abort() }))(
    new AbortController(),
  );
  let answers = 0;
  let fine = 0;
  const port = node.ports.http;
  const send = async (request: { host: string; path: string; from?: string }): Promise<number> => {
    const status = await ask({ port, ...request }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status !== 0) answers++;
    return status;
  };
  const each = async (request: { host: string; path: string; from?: string }): Promise<void> => {
    while (!signal.aborted) {
      if ((await send(request)) === 200 && request.path === '/fine') fine++;
      await sleep(PAUSE_MS);
    }
  };
  const running = Promise.all([
    each({ host: 'waf.test', path: ATTACK }),
    each({ host: 'waf.test', path: ATTACK }),
    each({ host: 'denied.test', path: '/denied' }),
    each({ host: 'waf.test', path: '/banned', from: BANNED }),
    each({ host: 'waf.test', path: '/fine' }),
  ]);
  const more = (count: () => number, by: number) => {
    const at = count();
    return expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(at + by);
  };
  return {
    /** Resolves when so many more were answered, whatever the answer. */
    answered: (by: number) => more(() => answers, by),
    /** Resolves when those that nothing is wrong with are served (again). */
    served: () => more(() => fine, 3),
    async stop(): Promise<void> {
      abort();
      await running;
    },
  };
};

describe('HAProxy never lets through what should be refused, from whatever it starts', () => {
  const nodes: Product[] = [];
  const arrivals: string[] = [];
  let origin: Server;
  let postgres: Postgres | undefined;
  let traffic: ReturnType<typeof hammer> | undefined;

  let token = '';

  type Made = { id: number; token: string };
  const call = (node: Product, method: string, path: string, body: unknown): Promise<Made> =>
    createApiCaller(
      () => node.api,
      () => token,
    ).call<Made>(method, path, body);

  const given = async (databaseUrl?: string): Promise<Product> => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    const node = createProduct({ api, http, https }, databaseUrl);
    nodes.push(node);
    return node;
  };

  const startOrigin = async (): Promise<void> => {
    arrivals.length = 0;
    origin = createServer((incoming, response) => {
      arrivals.push(incoming.url ?? '');
      response.end('fine');
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  };

  const makeHosts = async (node: Product): Promise<void> => {
    token = '';
    ({ token } = await call(node, 'POST', '/setup', { email: 'admin@example.com', password: 'correct horse battery' }));
    const fields = { forward_host: '127.0.0.1', forward_port: (origin.address() as AddressInfo).port };
    // Its own probes would refuse the attacks first.
    await call(node, 'POST', '/proxy-hosts', { ...fields, domain: 'waf.test', block_exploits: false });
    const list = { name: 'nobody', type: 'allow', rules: [{ cidr: '192.0.2.1/32' }] };
    const { id } = await call(node, 'POST', '/access-lists', list);
    await call(node, 'POST', '/proxy-hosts', { ...fields, domain: 'denied.test', access_list_id: id });
  };

  const protect = async (node: Product): Promise<void> => {
    await call(node, 'POST', '/security/config', {
      name: 'default',
      waf_mode: 'block',
      waf_rules_source: 'owasp',
      admin_whitelist: '192.0.2.1',
      rate_limit_requests: 1_000_000,
    });
    await call(node, 'POST', '/security/decisions', { ip: BANNED, action: 'block' });
    for (const key of ['security.waf.enabled', 'security.acl.enabled', 'security.rate_limit.enabled']) {
      await call(node, 'POST', '/settings', { key, value: 'true' });
    }
    await call(node, 'POST', '/security/enable', {});
  };

  const unprotected = () => arrivals.filter((url) => url !== '/fine');

  afterEach(async ({ task }) => {
    await traffic?.stop();
    for (const node of nodes.splice(0)) {
      if (task.result?.state === 'fail') process.stderr.write(node.log().slice(-10_000));
      await node.remove();
    }
    await postgres?.stop();
    postgres = undefined;
    origin.close();
  });

  test('a store that is restored into an empty directory, with its key or without, and files that are lost', {
    timeout: 600_000,
  }, async () => {
    await startOrigin();
    const node = await given();
    await node.start();
    await makeHosts(node);
    await protect(node);
    traffic = hammer(node);
    await traffic.served();
    arrivals.length = 0;

    for (const group of groups) {
      for (const file of group) writeFileSync(join(node.dataDir, file), '');
      // The server may still be on its way back from the last time.
      await expect.poll(() => node.pids().server).not.toBe(0);
      node.kill('haproxy worker', 'server');
      await traffic.answered(5);
      await traffic.served();
      expect(unprotected(), `after ${group} were emptied`).toEqual([]);
    }
    for (const file of files) rmSync(join(node.dataDir, file));
    await expect.poll(() => node.pids().guard).not.toBe(0);
    node.kill('haproxy worker', 'guard');
    await traffic.answered(5);
    await traffic.served();
    expect(unprotected(), 'after all were removed').toEqual([]);

    const restore = async (names: readonly string[]): Promise<void> => {
      await node.stop('SIGTERM');
      const kept = `${node.dataDir}.kept`;
      renameSync(node.dataDir, kept);
      mkdirSync(node.dataDir, { mode: 0o700 });
      for (const name of names) copyFileSync(join(kept, name), join(node.dataDir, name));
      rmSync(kept, { recursive: true });
    };
    await restore(['sallyport.db', 'encryption.key']);
    await node.start();
    await traffic.served();
    expect(unprotected(), 'restored').toEqual([]);

    await restore(['sallyport.db']);
    const attempt = node.start().catch(() => undefined);
    // Whether that is refused as a whole or not.
    const before = node.log().length;
    await Promise.race([traffic.answered(50), expect.poll(() => node.log().slice(before)).toContain('encryption.key')]);
    expect(unprotected(), 'restored without its key').toEqual([]);
    await node.stop('SIGTERM');
    await attempt;
  });

  test('a node that was away while another protected them, and one that cannot read the store', {
    timeout: 600_000,
  }, async () => {
    await startOrigin();
    postgres = await startPostgres();
    const [here, away] = [await given(postgres.url), await given(postgres.url)];
    await here.start();
    await makeHosts(here);
    mkdirSync(away.dataDir, { mode: 0o700 });
    copyFileSync(join(here.dataDir, 'encryption.key'), join(away.dataDir, 'encryption.key'));
    await away.start();
    await away.stop('SIGTERM');
    await protect(here);
    arrivals.length = 0;
    traffic = hammer(away);
    await away.start();
    await traffic.served();
    expect(unprotected(), 'back').toEqual([]);

    // What was known last stays.
    await postgres.kill();
    away.kill('haproxy worker', 'server');
    await traffic.served();
    expect(unprotected(), 'without its store').toEqual([]);

    // Nothing is known any more.
    for (const file of files) rmSync(join(away.dataDir, file));
    away.kill('haproxy worker', 'guard');
    await expect
      .poll(
        () =>
          ask({ port: away.ports.http, host: 'waf.test' }).then(
            (a) => a.status,
            () => 0,
          ),
        { timeout: 60_000 },
      )
      .toBe(503);
    await traffic.answered(50);
    expect(unprotected(), 'with nothing').toEqual([]);

    await postgres.restart();
    await traffic.served();
    expect(unprotected(), 'with its store again').toEqual([]);
  });
});
