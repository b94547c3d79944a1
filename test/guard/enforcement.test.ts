import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePort } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct, type Product } from '../support/product.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const ATTACK = "/?q=1'%20or%20'1'='1'%20union%20select%20password%20from%20users--";

describe('the suite, from the API to the browser', () => {
  let product: Product;
  let origin: TestOrigin;
  let token = '';
  let host = '';

  const { send: call } = createApiCaller(
    () => product.api,
    () => token,
  );

  const get = (path = '/', headers: Record<string, string> = {}) =>
    ask({ port: product.ports.http, host: 'shop.test', path, headers });
  const status = async (path = '/'): Promise<number> => (await get(path)).status;
  const turn = (key: string, value: boolean) => call('POST', '/settings', { key, value: String(value) });
  const configure = async (patch: object): Promise<void> => {
    expect(await call('POST', '/security/config', { name: 'default', ...patch })).toMatchObject({ status: 200 });
  };
  /** Whatever acts does so within a second; the tests wait for it, not for a time. */
  const until = (path: string, expected: number) => expect.poll(() => status(path)).toBe(expected);

  /** One command on HAProxy's runtime API. */
  const haproxy = (line: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(join(product.dataDir, 'haproxy', 'admin.sock'), () => socket.write(`${line}\n`));
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      socket.once('end', () => resolve(text)).once('error', reject);
    });

  beforeAll(async () => {
    const [api, http, https] = [await freePort(), await freePort(), await freePort()];
    product = createProduct({ api, http, https });
    origin = await startOrigin();
    await product.start();
    const account = { email: 'ada@example.com', password: 'correct horse battery staple' };
    await call('POST', '/setup', { name: 'Ada', ...account });
    token = (await call<{ token: string }>('POST', '/auth/login', account)).body.token;
    const created = await call<{ uuid: string; issue: string | null }>('POST', '/proxy-hosts', {
      domain: 'shop.test',
      forward_host: '127.0.0.1',
      forward_port: origin.port,
      block_exploits: false,
    });
    expect(created).toMatchObject({ status: 201, body: { applied: true } });
    host = created.body.uuid;
    await configure({ admin_whitelist: '192.0.2.1', rate_limit_requests: 1_000_000 });
    expect(await call('POST', '/security/enable', {})).toMatchObject({ status: 200, body: { enabled: true } });
  }, 60_000);
  afterAll(async () => {
    await product.stop('SIGTERM');
    await product.remove();
    await origin.stop();
  });

  test('the firewall acts while master switch and its own are on, and only then', async () => {
    expect(await status(ATTACK)).toBe(200);
    await turn('security.waf.enabled', true);
    await until(ATTACK, 403);
    expect(await status('/harmless?q=shoes')).toBe(200);
    await configure({ waf_mode: 'monitor' });
    expect(await status(ATTACK)).toBe(200);
    await configure({ waf_mode: 'block' });
    expect(await status(ATTACK)).toBe(403);
    await turn('feature.guard.enabled', false);
    await until(ATTACK, 200);
    await turn('feature.guard.enabled', true);
    await until(ATTACK, 403);
  });

  test('every refusal can be looked up by its reference', async () => {
    const refused = await get(ATTACK, { accept: 'application/json' });
    const { reference } = JSON.parse(refused.body) as { reference: string };
    await expect
      .poll(async () => (await call('GET', `/security/blocks/${reference}`)).body)
      .toMatchObject({ reference, layer: 'waf', host_uuid: host, status: 403, rule_id: expect.any(Number) });
  });

  test('JSON bodies are read as JSON', async () => {
    const body = JSON.stringify({ user: { name: "x' or '1'='1' union select password from users--" } });
    const answer = await ask({
      port: product.ports.http,
      host: 'shop.test',
      body,
      headers: { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'test' },
    });
    expect(answer.status).toBe(403);
  });

  test('metrics count each judged request once, also those of a guard that is killed', async () => {
    const value = async (name: string): Promise<number> => {
      const text = await (await fetch(`${product.api}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    };
    // What earlier tests did may still be on its way: three equal readings in a row are the end of it.
    let before = Number.NaN;
    await expect
      .poll(
        async () => {
          const now = await value('svc_waf_requests_total');
          const isSettled = now === before;
          before = now;
          return isSettled;
        },
        { interval: 500 },
      )
      .toBe(true);
    const blocked = await value('svc_waf_blocked_total');
    const judged = { all: 0, blocked: 0 };
    const send = async (path: string): Promise<void> => {
      const answer = await status(path);
      if (answer === 200 || answer === 403) judged.all += 1;
      if (answer === 403) judged.blocked += 1;
    };
    for (let i = 0; i < 20; i++) await send(i % 4 === 0 ? ATTACK : '/');
    // Its last counts are on their way or not: either way they are not lost.
    product.kill('guard');
    for (let i = 0; i < 20; i++) await send(i % 4 === 0 ? ATTACK : '/');
    expect(judged.all).toBeGreaterThan(20);
    await expect.poll(() => value('svc_waf_requests_total')).toBe(before + judged.all);
    expect(await value('svc_waf_blocked_total')).toBe(blocked + judged.blocked);
  });

  test('requests without a verdict are counted', async () => {
    expect(await (await fetch(`${product.api}/metrics`)).text()).toMatch(
      /^sallyport_proxy_unjudged_total\{outcome="passed"\} 0$/m,
    );
  });

  test('an access list decides before the firewall, in its own words', async () => {
    await turn('security.acl.enabled', true);
    const list = await call<{ id: number }>('POST', '/access-lists', {
      name: 'office',
      type: 'allow',
      rules: [{ cidr: '198.51.100.0/24' }],
    });
    await call('PUT', `/proxy-hosts/${host}`, { access_list_id: list.body.id });
    await until('/', 403);
    const refused = await get('/', { accept: 'application/json' });
    expect(JSON.parse(refused.body)).toMatchObject({ error: 'Blocked by access control list', code: 403 });
    await call('PUT', `/access-lists/${list.body.id}`, { rules: [{ cidr: '127.0.0.0/8' }] });
    expect(await status('/')).toBe(200);
    await turn('security.acl.enabled', false);
    await call('PUT', `/proxy-hosts/${host}`, { access_list_id: null });
    expect(await status('/')).toBe(200);
  });

  const from = async (address: string): Promise<number> =>
    (await ask({ port: product.ports.http, host: 'shop.test', from: address })).status;

  test('a ban acts with its answer, ends with its deletion, and the whitelist wins', async () => {
    const ban = async (ip: string) => {
      const { body, status: answered } = await call<{ decision: { id: number } }>('POST', '/security/decisions', {
        ip,
        action: 'block',
        details: 'test',
      });
      expect(answered).toBe(201);
      return () => call('DELETE', `/security/decisions/${body.decision.id}`);
    };
    const [liftOne, liftRange] = [await ban('127.0.0.9'), await ban('127.0.9.0/24')];
    expect([await from('127.0.0.9'), await from('127.0.9.200'), await from('127.0.0.8')]).toEqual([403, 403, 200]);
    await configure({ admin_whitelist: '192.0.2.1, 127.0.9.7' });
    expect([await from('127.0.9.7'), await from('127.0.9.8')]).toEqual([200, 403]);
    expect((await ask({ port: product.ports.http, host: 'shop.test', from: '127.0.9.7', path: ATTACK })).status).toBe(
      200,
    );
    await liftOne();
    expect(await from('127.0.0.9')).toBe(200);
    // A HAProxy that starts anew has the other one still.
    product.kill('haproxy worker');
    await expect.poll(() => from('127.0.9.8').catch(() => 0)).toBe(403);
    await liftRange();
    expect(await from('127.0.9.8')).toBe(200);
  });

  test('a ban of all IPv6, or a whitelist of it, does nothing to IPv4', async () => {
    const ban = async (ip: string) => {
      const { body } = await call<{ decision: { id: number } }>('POST', '/security/decisions', { ip, action: 'block' });
      return () => call('DELETE', `/security/decisions/${body.decision.id}`);
    };
    const liftAll = await ban('::/0');
    const mapped = () => haproxy('get map maps/bans.map 127.0.0.8');
    expect([await from('127.0.0.8'), await mapped()]).toEqual([200, expect.stringContaining('value="ok"')]);
    const inForce = () => haproxy('get map maps/bans.map 2001:db8::1');
    // A narrower one uses a key of the wider one; lifting it lifts nothing else.
    const liftPart = await ban('2000::/3');
    await liftPart();
    expect(await inForce()).not.toContain('value="ok"');
    await liftAll();
    expect(await inForce()).toContain('value="ok"');
    await configure({ admin_whitelist: '192.0.2.1, ::/0' });
    const lift = await ban('127.0.0.9');
    expect(await from('127.0.0.9')).toBe(403);
    await lift();
    await configure({ admin_whitelist: '192.0.2.1' });
  });

  test('a rate limit counts each client, refuses with 429 and Retry-After, and survives a reload', async () => {
    await turn('security.rate_limit.enabled', true);
    await configure({ rate_limit_requests: 5, rate_limit_burst: 3, rate_limit_bypass_list: '127.0.5.0/24' });
    const times = async (count: number, address: string): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < count; i++) statuses.push(await from(address));
      return statuses;
    };
    await expect.poll(async () => (await times(9, '127.0.4.1')).at(-1)).toBe(429);
    expect(await times(9, '127.0.4.2')).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429]);
    const refused = await ask({ port: product.ports.http, host: 'shop.test', from: '127.0.4.2' });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect(new Set(await times(12, '127.0.5.1'))).toEqual(new Set([200]));
    // HAProxy takes its counters along once it has run for a few seconds: its own resynchronisation has to be over.
    await expect.poll(() => haproxy('show peers')).toMatch(/flags=0x[0-9a-f]*3 /);
    await configure({ rate_limit_window_sec: 120 });
    // The old process teaches the new one in its own time; asking by requests would count them.
    await expect
      .poll(() => haproxy('show table requests'))
      .toMatch(/key=::ffff:127\.0\.4\.2 .*http_req_rate\(120000\)=(?:9|1\d)$/m);
    expect(await from('127.0.4.2')).toBe(429);
    await configure({ rate_limit_requests: 1_000_000 });
    expect(await from('127.0.4.2')).toBe(200);
  });
});
