import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { afterEach, describe, expect, test } from 'vitest';
import { givenConfig } from '../support/guard/config.ts';
import { type Guarded, type GuardedOptions, startGuarded } from '../support/guard/start-guarded.ts';
import { defaultFlags } from '../support/haproxy/given.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

type List = GuardConfig['access']['lists'][number];

const list = (parts: Partial<List>): List => ({
  id: 10,
  name: 'list',
  description: '',
  type: 'deny',
  rules: [],
  countries: [],
  local_network_only: false,
  enabled: true,
  ...parts,
});

const withList = (parts: Partial<List>, rest: Parameters<typeof givenConfig>[1] = {}): GuardConfig =>
  givenConfig(1, {
    access: { enabled: true, lists: [list(parts)] },
    hosts: [{ id: 1, access_list_id: 10, waf_enabled: true }],
    ...rest,
  });

describe('clients', () => {
  let guarded: Guarded;
  let origin: TestOrigin;

  const start = async (options: GuardedOptions): Promise<void> => {
    origin = await startOrigin();
    guarded = await startGuarded({ trustedProxies: ['127.0.0.1/32'], ...options });
    await guarded.serve({ origin: { port: origin.port } as never });
  };
  afterEach(async () => {
    await guarded.stop();
    await origin.stop();
  });

  const from = (client: string, path = '/', headers: Record<string, string> = {}): Promise<Answer> =>
    ask({
      port: guarded.httpPort,
      path,
      headers: { 'x-forwarded-for': client, accept: 'application/json', ...headers },
    });
  const statuses = async (...clients: string[]): Promise<number[]> =>
    Promise.all(clients.map(async (client) => (await from(client)).status));

  test('a deny list refuses its networks, in IPv4 and IPv6, with the words of the contract', async () => {
    await start({ config: withList({ rules: [{ cidr: '203.0.113.0/24' }, { cidr: '2001:db8:bad::/48' }] }) });
    expect(await statuses('203.0.113.9', '203.0.114.9', '2001:db8:bad::1', '2001:db8:600d::1')).toEqual([
      403, 200, 403, 200,
    ]);
    const refused = await from('203.0.113.9');
    expect(JSON.parse(refused.body)).toEqual({
      error: 'Blocked by access control list',
      code: 403,
      reference: refused.headers['x-sallyport-reference'],
    });
    await expect
      .poll(() => guarded.told)
      .toContainEqual(
        expect.objectContaining({
          layer: 'acl',
          ip: '2001:db8:bad::1',
          reason: 'the address is in a denied network',
          status: 403,
        }),
      );
  });

  test('a country list refuses by the packaged database, long bodies as well', async () => {
    await start({ config: withList({ type: 'geo_deny', countries: ['US'], rules: [{ cidr: '8.8.4.4' }] }) });
    expect(await statuses('8.8.8.8', '8.8.4.4', '193.0.6.139')).toEqual([403, 200, 200]);
    const long = await ask({
      port: guarded.httpPort,
      body: 'a='.padEnd(50_000, 'x'),
      headers: {
        'x-forwarded-for': '8.8.8.8',
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    expect(JSON.parse(long.body)).toMatchObject({ error: 'Blocked by access control list', code: 403 });
  });

  test("an administrator's network is stopped by neither list nor firewall", async () => {
    await start({
      config: withList({ type: 'allow', rules: [{ cidr: '198.51.100.0/24' }] }, { admin_whitelist: ['192.0.2.0/24'] }),
    });
    expect(await statuses('192.0.2.1', '203.0.113.1')).toEqual([200, 403]);
    expect((await from('192.0.2.1', '/?q=attack')).status).toBe(200);
  });

  test('lists act without the firewall, and cost no look at bodies', async () => {
    await start({ judge: 512, config: withList({ rules: [{ cidr: '203.0.113.0/24' }] }) });
    expect((await from('192.0.2.1', '/?q=attack')).status).toBe(200);
    expect((await from('203.0.113.1')).status).toBe(403);
    const body = 'q=attack'.padEnd(100_000, 'x');
    expect((await ask({ port: guarded.httpPort, body })).status).toBe(200);
    expect(origin.arrivals.at(-1)?.body.length).toBe(body.length);

    // Whom one let pass is not asked about again, under that configuration and for that host alone.
    await guarded.serve({ id: 11, names: ['other.test'], origin: { port: origin.port } as never });
    const clients = ['192.0.2.1', '2001:db8::1', '203.0.113.9'];
    // Nothing is remembered until HAProxy is told by which configuration it may.
    expect(await statuses(...clients)).toEqual([200, 200, 403]);
    expect(await guarded.command('show table passes')).toMatch(/used:0/);
    await guarded.command(`add map ${dataPlaneFiles.switchesMap} remembered 1`);
    expect(await statuses(...clients)).toEqual([200, 200, 403]);
    expect(await guarded.command('show table passes')).toMatch(/used:2/);

    for (const guard of guarded.guards) guard.kill('SIGKILL');
    await Promise.all(guarded.guards.map((guard) => guard.exited));
    expect(await statuses(...clients, '192.0.2.2')).toEqual([200, 200, 503, 503]);
    expect((await from('192.0.2.1', '/', { host: 'other.test' })).status).toBe(503);
    await guarded.command(`add map ${dataPlaneFiles.bansMap} 192.0.2.1 manual/0b2f3c1e-5b7e-4c7e-9a51-6a0e3f3d8f11`);
    expect(await statuses('192.0.2.1', '2001:db8::1')).toEqual([403, 200]);
    for (const revision of ['11', '2', '0']) {
      await guarded.command(`set map ${dataPlaneFiles.switchesMap} remembered ${revision}`);
      expect(await statuses('2001:db8::1')).toEqual([503]);
    }
    // The firewall has not seen this request.
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} remembered 1`);
    await guarded.switchTo(1536);
    expect(await statuses('2001:db8::1')).toEqual([503]);
  });

  test('what guards are not asked about costs no rule, nor does whom a list let pass a moment ago', async () => {
    await start({ trustedProxies: [], judge: 0, config: withList({ rules: [{ cidr: '203.0.113.0/24' }] }) });
    const flags = { ...defaultFlags, firewall: true, access_list: true };
    await guarded.serve(
      { origin: { port: origin.port } as never, flags },
      { id: 11, names: ['other.test'], origin: { port: origin.port } as never, flags },
    );
    /** Its status, and whether it left the rules early. */
    const asked = async (host = 'guarded.test', headers: Record<string, string> = {}): Promise<[number, boolean]> => {
      const count = async () => /^untouched,BACKEND,(?:[^,]*,){5}(\d+)/m.exec(await guarded.command('show stat'))?.[1];
      const before = await count();
      const { status } = await ask({ port: guarded.httpPort, host, headers });
      return [status, (await count()) !== before];
    };
    expect(await asked()).toEqual([200, true]);
    await guarded.switchTo(512);
    await guarded.command(`add map ${dataPlaneFiles.switchesMap} remembered 1`);
    expect(await asked()).toEqual([200, false]);
    expect(await asked()).toEqual([200, true]);

    // Remembered is a client of one host, by the name that it is routed by, under one configuration, of which only the list is asked.
    for (const guard of guarded.guards) guard.kill('SIGKILL');
    await Promise.all(guarded.guards.map((guard) => guard.exited));
    expect(await asked()).toEqual([200, true]);
    expect(await asked('Guarded.test.')).toEqual([200, false]);
    for (const host of ['other.test', 'Other.test.', 'other.test:'])
      expect(await asked(host, { 'x-forwarded-host': 'guarded.test' })).toEqual([503, false]);
    expect(await asked('other.test')).toEqual([503, false]);
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} remembered 0`);
    expect(await asked()).toEqual([503, false]);
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} remembered 1`);
    await guarded.switchTo(1536);
    expect(await asked()).toEqual([503, false]);
    // Without a word about what is asked, all of it is.
    await guarded.switchTo(0);
    expect(await asked()).toEqual([200, true]);
    await guarded.command(`del map ${dataPlaneFiles.switchesMap} unasked`);
    expect(await asked()).toEqual([503, false]);
  });

  test('a request that runs on keeps nobody remembered', async () => {
    await start({
      judge: 512,
      config: withList({ rules: [{ cidr: '203.0.113.0/24' }] }),
      // Nobody waits half a minute here.
      tamper: (dataDir) => {
        const path = join(dataDir, 'haproxy', 'haproxy.cfg');
        writeFileSync(
          path,
          readFileSync(path, 'utf8').replace('len 96 size 20k expire 30s', 'len 96 size 20k expire 1s'),
        );
      },
    });
    const passes = () => guarded.command('show table passes');
    await guarded.command(`add map ${dataPlaneFiles.switchesMap} remembered 1`);
    const upload = request({
      port: guarded.httpPort,
      host: '127.0.0.1',
      method: 'PUT',
      headers: { host: 'guarded.test', 'x-forwarded-for': '192.0.2.1', 'content-length': '1000' },
    });
    upload.on('error', () => {}).write('begun');
    await expect.poll(passes).toMatch(/used:1/);
    await expect.poll(passes).toMatch(/use=1 exp=0/);
    for (const guard of guarded.guards) guard.kill('SIGKILL');
    await Promise.all(guarded.guards.map((guard) => guard.exited));
    expect(await statuses('192.0.2.1')).toEqual([503]);
    upload.destroy();
  });

  test('only addresses that trusted proxies tell count', async () => {
    await start({ trustedProxies: ['192.0.2.1/32'], config: withList({ rules: [{ cidr: '203.0.113.0/24' }] }) });
    expect(await statuses('203.0.113.9')).toEqual([200]);
  });

  test('the rate limit counts an IPv6 client by its /64 and an IPv4 client by its address', async () => {
    await start({ limit: 3 });
    expect((await from('2001:db8:1:1::1')).status).toBe(200);
    expect((await from('2001:db8:1:1::2')).status).toBe(200);
    expect((await from('2001:db8:1:1:ffff::3')).status).toBe(200);
    const refused = await from('2001:db8:1:1::4');
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect(JSON.parse(refused.body)).toMatchObject({ code: 429, reference: refused.headers['x-sallyport-reference'] });
    expect(await statuses('2001:db8:1:2::1', '192.0.2.1', '192.0.2.2')).toEqual([200, 200, 200]);
  });

  test('a WebSocket is judged by its handshake and then left alone', async () => {
    await start({});
    const upgrade = (path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request({
          host: '127.0.0.1',
          port: guarded.httpPort,
          path,
          headers: {
            host: 'guarded.test',
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          },
        });
        sent.once('upgrade', (response, socket) => {
          socket.destroy();
          resolve(response.statusCode ?? 0);
        });
        sent.once('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.once('error', reject).end();
      });
    expect(await upgrade('/chat')).toBe(101);
    expect(await upgrade('/chat?q=attack')).toBe(403);
  });

  /** Begins an upload as this client; `finish` sends the rest and resolves to the status line. */
  const beginUpload = async (client: string) => {
    const bytes = 100_000;
    const answer = Promise.withResolvers<string>();
    const before = await inRelays();
    const socket = connect(guarded.httpPort, '127.0.0.1');
    socket.setEncoding('latin1').once('data', (text) => {
      answer.resolve(String(text).slice(0, 12));
      socket.destroy();
    });
    socket.once('error', answer.reject);
    socket.write(
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nX-Forwarded-For: ${client}\r\nContent-Length: ${bytes}\r\n\r\npad=`,
    );
    await expect.poll(inRelays).toBe(before + 1);
    return {
      finish: () => {
        socket.write('x'.repeat(bytes - 4));
        return answer.promise;
      },
    };
  };
  const inRelays = async (): Promise<number> => {
    const rows = (await guarded.command('show stat')).split('\n').map((line) => line.split(','));
    return rows
      .filter(([proxy, server]) => proxy === 'relay' && server?.startsWith('relay-'))
      .reduce((sum, row) => sum + Number(row[4]), 0);
  };

  test('who is banned or put on a list while a body arrives is refused at its end', async () => {
    await start({ config: withList({}) });
    const uploads = [];
    for (const client of ['203.0.113.1', '203.0.113.2', '203.0.113.3']) uploads.push(await beginUpload(client));
    const [banned, listed, other] = uploads;
    await guarded.command(`add map ${dataPlaneFiles.bansMap} 203.0.113.1 manual/0b2f3c1e-5b7e-4c7e-9a51-6a0e3f3d8f11`);
    await guarded.configure({ ...withList({ rules: [{ cidr: '203.0.113.2' }] }), revision: 2 });

    expect(await banned?.finish()).toBe('HTTP/1.1 403');
    expect(await listed?.finish()).toBe('HTTP/1.1 403');
    expect(origin.arrivals).toEqual([]);
    expect(await other?.finish()).toBe('HTTP/1.1 200');
    expect(JSON.stringify(origin.arrivals.map(({ headers }) => headers))).not.toContain('x-sallyport-client');
    await expect
      .poll(() => guarded.haproxyOutput())
      .toMatch(/"client":"203\.0\.113\.1".*"status":403.*"refused":"decision".*"host":"guarded\.test"/);
    expect(guarded.told).toContainEqual(expect.objectContaining({ layer: 'acl', ip: '203.0.113.2' }));
  });
});
