import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';
import { dataPlaneFiles } from '../src/index.ts';
import { createAdminSocket } from '../src/runtime/admin-socket.ts';
import { createMapCommands, type MapCommands } from '../src/runtime/maps.ts';

describe('decisions, whitelist and rate limit', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  let map: (file: string) => MapCommands;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([
      startDataPlane({ trustedProxies: ['127.0.0.1'], rateLimit: { windowSec: 60 } }),
      startEchoOrigin('echo'),
    ]);
    await plane.serve(givenHost({ names: ['a.example.com'], origin }));
    const socket = createAdminSocket({ path: plane.settings.adminSocket });
    map = (file) => createMapCommands(socket, file);
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  const askFrom = (client: string) =>
    ask({
      port: plane.httpPort,
      host: 'a.example.com',
      headers: { 'X-Forwarded-For': client, Accept: 'application/json' },
    });

  test('a banned prefix is refused at once, IPv4 and IPv6, and served again when the ban ends', async () => {
    const decisions = map(dataPlaneFiles.bansMap);
    for (const [prefix, client] of [
      ['203.0.113.0/24', '203.0.113.9'],
      ['2001:db8:1::/48', '2001:db8:1::9'],
      ['198.51.100.7', '198.51.100.7'],
    ] as const) {
      expect((await askFrom(client)).status).toBe(200);
      await decisions.add(prefix, 'block');
      expect(await askFrom(client)).toMatchObject({ status: 403 });
      await decisions.remove(prefix);
      expect((await askFrom(client)).status).toBe(200);
    }
  });

  test("the administrators' whitelist wins over a decision", async () => {
    await map(dataPlaneFiles.bansMap).add('192.0.2.0/24', 'block');
    await map(dataPlaneFiles.whitelistMap).add('192.0.2.128/25', 'admin');
    expect((await askFrom('192.0.2.1')).status).toBe(403);
    expect((await askFrom('192.0.2.200')).status).toBe(200);
  });

  test('the rate limit counts client prefixes and can be set, changed and bypassed at run time', async () => {
    const limits = map(dataPlaneFiles.limitsMap);
    await limits.set('requests', '3');
    const statuses = async (client: string, count: number): Promise<number[]> => {
      const seen = [];
      for (let index = 0; index < count; index++) seen.push((await askFrom(client)).status);
      return seen;
    };
    expect(await statuses('203.0.113.50', 5)).toEqual([200, 200, 200, 429, 429]);
    expect((await askFrom('203.0.113.50')).headers['retry-after']).toBe('60');
    // One subscriber has a whole /64.
    expect(await statuses('2001:db8::1', 2)).toEqual([200, 200]);
    expect(await statuses('2001:db8::2', 2)).toEqual([200, 429]);
    await map(dataPlaneFiles.bypassMap).add('203.0.113.50', 'monitoring');
    expect((await askFrom('203.0.113.50')).status).toBe(200);
    // Over the limit, banned and a probe at once: told is what comes first, ban, then limit, then the rest.
    const client = '2001:db8::2';
    const probe = () =>
      ask({
        port: plane.httpPort,
        host: 'a.example.com',
        path: '/.env',
        headers: { 'X-Forwarded-For': client, 'User-Agent': `probe|"${'x'.repeat(300)}` },
      });
    expect((await probe()).status).toBe(429);
    await map(dataPlaneFiles.bansMap).add(client, '1e2ddd71-b0cb-4876-9263-26eb9e6221dd');
    const banned = await probe();
    expect(banned.status).toBe(403);
    const reference = String(banned.headers['x-sallyport-reference']);
    expect(await plane.haproxy.logged(reference)).toMatchObject({
      refused: 'decision',
      decision: '1e2ddd71-b0cb-4876-9263-26eb9e6221dd',
      user_agent: `probe|"${'x'.repeat(249)}`,
      method: 'GET',
      uri: '/.env',
    });
    await map(dataPlaneFiles.bansMap).remove(client);
    await limits.set('requests', '1000');
    expect((await askFrom('2001:db8::2')).status).toBe(200);
    await limits.set('requests', '0');
  });
});
