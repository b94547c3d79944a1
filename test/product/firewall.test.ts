import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SecurityStatus } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listProcesses } from '../../apps/supervisor/src/process/proc.ts';
import { createProduct, type Product } from '../chaos/product.ts';
import { freePorts } from '../support/free-ports.ts';

interface Answer {
  status: number;
  body: string;
  reference: string;
}

const SQL_ERROR =
  '<p>You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version</p>';
const ATTACK = `/?id=${encodeURIComponent('1 union select password from users--')}`;

describe('the firewall from the switch to the refusal', () => {
  let product: Product;
  let origin: Server;
  let token: string;
  const arrivals: string[] = [];

  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(product.api + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.status, text).toBeLessThan(300);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };

  const get = (path: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: product.ports.http,
        path,
        headers: { host: 'waf.test' },
        agent: false,
      };
      request(options, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => {
          const reference = String(response.headers['x-sallyport-reference'] ?? '');
          resolve({ status: response.statusCode ?? 0, body, reference });
        });
      })
        .once('error', reject)
        .end();
    });

  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    origin = createServer((incoming, response) => {
      arrivals.push(incoming.url ?? '');
      response.setHeader('content-type', 'text/html');
      response.end(incoming.url === '/leak' ? SQL_ERROR : 'fine');
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    await product.start();
    const setup = { email: 'admin@example.com', password: 'correct horse battery' };
    ({ token } = await call<{ token: string }>('POST', '/setup', setup));
    await call('POST', '/proxy-hosts', {
      domain: 'waf.test',
      forward_host: '127.0.0.1',
      forward_port: (origin.address() as AddressInfo).port,
      waf_inspect_responses: true,
      // Its own probes would refuse the attacks first.
      block_exploits: false,
    });
    const config = { name: 'default', waf_mode: 'block', waf_rules_source: 'owasp', admin_whitelist: '192.0.2.1' };
    await call('POST', '/security/config', config);
  });
  afterAll(async () => {
    await product.stop('SIGTERM');
    await product.remove();
    origin.close();
  });

  const set = (key: string, value: string) => call('POST', '/settings', { key, value });

  test('acts from the moment the switch is answered until it is switched off', async () => {
    expect((await get(ATTACK)).status).toBe(200);
    await set('security.waf.enabled', 'true');
    await set('feature.guard.enabled', 'true');
    const before = arrivals.length;
    expect((await get(ATTACK)).status).toBe(403);
    expect(arrivals).toHaveLength(before);
    expect(await get('/fine')).toMatchObject({ status: 200, body: 'fine' });
    await set('security.waf.enabled', 'false');
    expect((await get(ATTACK)).status).toBe(200);
    await set('security.waf.enabled', 'true');
  });

  test('refuses an answer that leaks an error of the database', async () => {
    const answer = await get('/leak');
    expect(answer.status).toBe(403);
    expect(answer.body).not.toContain('SQL syntax');
  });

  test('the status tells when no guard is there to judge, and when one is again', async () => {
    const guards = listProcesses().filter(({ argv }) =>
      argv.some((argument) => argument.includes('apps/guard/src/main')),
    );
    const ours = guards.filter(({ argv }) => argv.some((argument) => argument.startsWith(product.dataDir)));
    expect(ours.length).toBeGreaterThan(0);
    const status = () => call<SecurityStatus>('GET', '/security/status');
    expect(await status()).toMatchObject({ applied: true, issue: null });
    // The supervisor too: it would replace them.
    const stopped = [product.pids().supervisor, ...ours.map(({ pid }) => pid)];
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    try {
      await expect.poll(status).toMatchObject({
        applied: false,
        issue: 'no guard answers: requests that need a verdict are refused with 503',
      });
      // Requests that the relay has taken wait until HAProxy finds that it hangs.
      await expect.poll(async () => (await get('/fine')).status, { timeout: 40_000 }).toBe(503);
    } finally {
      for (const pid of stopped.toReversed()) process.kill(pid, 'SIGCONT');
    }
    await expect.poll(status).toMatchObject({ applied: true, issue: null });
    await expect.poll(async () => (await get('/fine')).status).toBe(200);
  });

  test('explains a refusal by its reference, and its exclusion lets the request pass', async () => {
    const { reference } = await get(ATTACK);
    type Block = { layer: string; rule_id: number; variable: string; exclusions: object[] };
    let block: Block | undefined;
    await expect
      .poll(async () => {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${product.api}/security/blocks/${reference}`, { headers });
        block = response.ok ? ((await response.json()) as Block) : undefined;
        return response.status;
      })
      .toBe(200);
    expect(block).toMatchObject({ layer: 'waf', variable: 'ARGS:id' });
    for (const exclusion of block?.exclusions ?? []) await call('POST', '/security/exclusions', exclusion);
    expect((await get(ATTACK)).status).toBe(200);
    expect((await get(ATTACK.replace('id=', 'other='))).status).toBe(403);
  });
});
