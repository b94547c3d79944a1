import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenConfig, SMALL_RULES } from '../support/guard/config.ts';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { ask } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const referencePattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the firewall', () => {
  let guarded: Guarded;
  let origin: TestOrigin;

  beforeAll(async () => {
    origin = await startOrigin();
    guarded = await startGuarded();
    await guarded.serve({ origin: { port: origin.port } as never });
  });
  afterAll(async () => {
    await guarded.stop();
    await origin.stop();
  });

  test('passes what its rules have nothing against, with its body', async () => {
    const answer = await ask({ port: guarded.httpPort, path: '/form?a=1', body: 'name=Jane' });
    expect(answer.status).toBe(200);
    expect(origin.arrivals.at(-1)).toMatchObject({ method: 'POST', url: '/form?a=1', body: Buffer.from('name=Jane') });
  });

  test.each([
    ['query', { path: '/?q=attack' }],
    ['header', { headers: { 'x-test': 'attack' } }],
    ['cookie', { headers: { cookie: 'a=attack' } }],
    ['form', { body: 'a=1&b=attack', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['JSON', { body: '{"a":["attack"]}', headers: { 'content-type': 'application/json' } }],
  ])('refuses an attack in the %s with 403 and a reference that the guard told the server', async (_where, parts) => {
    const before = origin.arrivals.length;
    const answer = await ask({ port: guarded.httpPort, ...parts });
    expect(answer.status).toBe(403);
    expect(origin.arrivals.length).toBe(before);
    const reference = String(answer.headers['x-sallyport-reference']);
    expect(reference).toMatch(referencePattern);
    expect(answer.body).toContain(reference);
    await expect
      .poll(() => guarded.told.filter((line) => line.type === 'block'))
      .toContainEqual(
        expect.objectContaining({
          reference,
          layer: 'waf',
          monitored: false,
          status: 403,
          ip: '127.0.0.1',
          host: 'guarded.test',
          host_id: 1,
          reason: expect.stringContaining('An attack'),
        }),
      );
  });

  test('is the work of all guards, also when the requests come one after the other on one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const judged = () => Promise.all(guarded.guards.map(async (guard) => (await guard.stats()).requests));
    const before = await judged();
    for (let i = 0; i < 100; i++) expect((await ask({ port: guarded.httpPort, agent })).status).toBe(200);
    agent.destroy();
    const shares = (await judged()).map((count, index) => count - (before[index] ?? 0));
    expect(shares.reduce((sum, share) => sum + share)).toBe(100);
    // A fair coin gives one of them less than ten once in 10^17 runs.
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(10);
  });

  test('only reports in monitor mode, and blocks again when told to', async () => {
    await guarded.configure(givenConfig(2, { waf: { mode: 'monitor' } }));
    expect((await ask({ port: guarded.httpPort, path: '/?q=attack&monitor' })).status).toBe(200);
    await expect
      .poll(() => guarded.told)
      .toContainEqual(expect.objectContaining({ type: 'block', monitored: true, request_uri: '/?q=attack&monitor' }));
    await guarded.configure(givenConfig(3));
    expect((await ask({ port: guarded.httpPort, path: '/?q=attack' })).status).toBe(403);
  });

  test('judges by new rules from the moment that it says so, and keeps the old ones when the new are wrong', async () => {
    await guarded.configure(givenConfig(4, { rules: SMALL_RULES.replaceAll('attack', 'assault') }));
    expect((await ask({ port: guarded.httpPort, path: '/?q=attack' })).status).toBe(200);
    expect((await ask({ port: guarded.httpPort, path: '/?q=assault' })).status).toBe(403);
    await expect(guarded.configure(givenConfig(5, { rules: 'SecRule ARGS "@rx (" "id:1,deny"' }))).rejects.toThrow(
      'refused',
    );
    expect((await ask({ port: guarded.httpPort, path: '/?q=assault' })).status).toBe(403);
    await guarded.configure(givenConfig(6));
  });

  test('asks nothing while the suite is switched off, and everything once it is on', async () => {
    await guarded.switchTo(0);
    expect((await ask({ port: guarded.httpPort, path: '/?q=attack' })).status).toBe(200);
    await guarded.switchTo(1024);
    expect((await ask({ port: guarded.httpPort, path: '/?q=attack' })).status).toBe(403);
    await guarded.switchTo(1536);
  });
});
