import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Health, SecurityStatus } from '@sallyport/contract';
import { readProcess } from '@sallyport/deployment/processes';
import { readState } from '@sallyport/deployment/supervisor-state';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product, type Victim } from '../support/product.ts';
import { until } from '../support/until.ts';

const HOST = 'hung.test';
const ATTACK = `/?id=${encodeURIComponent('1 union select password from users--')}`;

describe('a child that hangs', () => {
  let product: Product;
  let origin: Server;
  let token: string | undefined;

  const ask = (path: string): Promise<number> =>
    new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: product.ports.http, path, headers: { host: HOST }, agent: false };
      request({ ...options, timeout: 10_000 }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .once('timeout', () => resolve(0))
        .once('error', () => resolve(0))
        .end();
    });

  const call = (method: string, path: string, body?: object, limitMs = 60_000): Promise<Response> =>
    fetch(product.api + path, {
      method,
      signal: AbortSignal.timeout(limitMs),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const read = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await call(method, path, body);
    expect(response.status, `${method} ${path}`).toBeLessThan(300);
    return (await response.json()) as T;
  };
  const health = async (): Promise<Health | undefined> => {
    try {
      return (await (await call('GET', '/health', undefined, 2_000)).json()) as Health;
    } catch {
      return undefined;
    }
  };

  const why = (name: string) =>
    readState(join(product.dataDir, 'supervisor.json'))?.past?.find((child) => child.name === name)?.last_end?.why;

  const stop = (victim: Victim): number => {
    const pid = product.pids()[victim];
    process.kill(pid, 'SIGSTOP');
    return pid;
  };

  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    origin = createServer((_request, response) => response.end('fine'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    await product.start();
    const admin = { email: 'admin@example.com', password: 'correct horse battery' };
    ({ token } = await read<{ token: string }>('POST', '/setup', admin));
    const { port } = origin.address() as AddressInfo;
    await read('POST', '/proxy-hosts', { domain: HOST, forward_host: '127.0.0.1', forward_port: port });
    const config = { name: 'default', waf_mode: 'block', waf_rules_source: 'owasp', admin_whitelist: '192.0.2.1' };
    await read('POST', '/security/config', config);
    for (const key of ['security.waf.enabled', 'feature.guard.enabled']) {
      await read('POST', '/settings', { key, value: 'true' });
    }
    await until('the firewall is on', async () => (await ask(ATTACK)) === 403, 90_000);
  });
  afterAll(async () => {
    await product.stop('SIGTERM');
    await product.remove();
    origin.close();
  });

  test('is told by the health and replaced: the worker of HAProxy', async () => {
    expect(await health()).toEqual({ status: 'ok', proxy: 'up' });
    const worker = stop('haproxy worker');
    await until('the health tells', async () => (await health())?.proxy === 'down');
    await until('the proxy serves again', async () => (await ask('/')) === 200, 90_000);
    expect(readProcess(worker)).toBeUndefined();
    expect(why('haproxy')).toContain('gave no sign of life');
    await until('the health tells that, too', async () => (await health())?.proxy === 'up');
    expect(product.log()).toMatch(/haproxy.*gives no sign of life, it is replaced/);
  });

  test('is replaced while sites are served: the server', async () => {
    const server = stop('server');
    expect(await ask('/')).toBe(200);
    await until('the API answers again', async () => (await health()) !== undefined, 90_000);
    expect(readProcess(server)).toBeUndefined();
    expect(await ask('/')).toBe(200);
    expect(why('server')).toContain('gave no sign of life');
    // Its sessions ended with it; from this machine none is needed.
    token = undefined;
  });

  test('is named by the status and replaced while the other one judges: a guard', async () => {
    const status = () => read<SecurityStatus>('GET', '/security/status');
    await until('all is well', async () => (await status()).issue === null);
    const guard = stop('guard');
    const { applied, issue } = await until('the status tells', async () => {
      const now = await status();
      return now.issue !== null && now;
    });
    expect({ applied, issue }).toEqual({
      applied: true,
      issue: 'guard-0 does not answer: the other guards judge alone',
    });
    expect(await ask(ATTACK)).toBe(403);
    expect(await ask('/')).toBe(200);
    await until('all is well again', async () => (await status()).issue === null, 90_000);
    expect(readProcess(guard)).toBeUndefined();
    expect(why('guard-0')).toContain('gave no sign of life');
    expect(await ask(ATTACK)).toBe(403);
  });
});
