import type { Decision, ErrorBody } from '@sallyport/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('decisions', (kind) => {
  let app: TestApp;
  let now = Date.parse('2026-11-20T12:00:00.000Z');
  beforeAll(async () => {
    app = await startApp(kind, {}, { clock: () => new Date(now) });
  });
  afterAll(() => app.stop());

  const create = (body: unknown) => app.send<{ decision: Decision } & ErrorBody>('POST', '/security/decisions', body);
  const list = async (query = '') =>
    (await app.send<{ decisions: Decision[] }>('GET', `/security/decisions${query}`)).body.decisions;
  const ban = (ip: string, more: object = {}) => create({ ip, action: 'block', details: 'test', ...more });

  beforeEach(async () => {
    for (const { id } of await list('?limit=1000')) await app.send('DELETE', `/security/decisions/${id}`);
    await app.send('POST', '/security/config', { admin_whitelist: '' });
  });

  test('answers 201 with the decision and lists it, newest first', async () => {
    const { status, body } = await ban('203.0.113.7');
    expect(status).toBe(201);
    expect(body.decision).toEqual({
      id: expect.any(Number),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ip: '203.0.113.7',
      action: 'block',
      details: 'test',
      source: 'manual',
      warnings: [{ field: 'action', message: 'is not enforced: the security suite is switched off' }],
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: null,
    });
    await ban('203.0.113.8');
    expect((await list()).map(({ ip }) => ip)).toEqual(['203.0.113.8', '203.0.113.7']);
  });

  test.each([
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['2001:DB8:0::00ff', '2001:db8::ff'],
    ['2001:db8::1/48', '2001:db8::/48'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
  ])('stores %s as %s', async (ip, canonical) => {
    expect((await ban(ip)).body.decision.ip).toBe(canonical);
  });

  test.each([
    ['no ip', { action: 'block' }, 'ip is required'],
    ['no action', { ip: '203.0.113.7' }, 'action is required'],
    ['another action', { ip: '203.0.113.7', action: 'dance' }, 'action must be one of: block'],
    ['a name for an ip', { ip: 'example.com', action: 'block' }, 'ip "example.com" is not an IP address'],
    ['half an address', { ip: '10.1', action: 'block' }, 'ip "10.1" is not an IP address'],
    ['an octal address', { ip: '010.0.0.1', action: 'block' }, 'is not an IP address'],
    ['a prefix too long', { ip: '203.0.113.0/33', action: 'block' }, 'prefix length outside 0–32'],
    ['a zone', { ip: 'fe80::1%eth0', action: 'block' }, 'is not an IP address'],
    ['a bad duration', { ip: '203.0.113.7', action: 'block', duration: '4 hours' }, 'duration must be a time'],
    ['no duration at all', { ip: '203.0.113.7', action: 'block', duration: '0s' }, 'duration must be longer'],
    ['NUL', { ip: '203.0.113.7', action: 'block', details: 'a\0' }, 'details must not contain NUL'],
    ['a list', [], 'body must be a JSON object'],
  ])('refuses %s', async (_what, body, message) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(message);
    expect(await list()).toEqual([]);
  });

  test.each(['127.0.0.1', '127.0.0.0/8', '0.0.0.0/0'])('refuses 409 to ban the caller with %s', async (ip) => {
    const answer = await ban(ip);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toContain('the address this request comes from');
    expect(await list()).toEqual([]);
  });

  test('refuses 409 to ban the admin whitelist, in whole or in part', async () => {
    await app.send('POST', '/security/config', { admin_whitelist: '198.51.100.0/28, 2001:db8:1::/48' });
    for (const ip of ['198.51.100.3', '198.51.100.0/24', '2001:db8:1:2::3', '2001:db8::/32']) {
      const answer = await ban(ip);
      expect(answer.status).toBe(409);
      expect(answer.body.error).toContain('admin_whitelist');
    }
    expect((await ban('198.51.100.16')).status).toBe(201);
  });

  test('a decision with a duration is gone when it ends', async () => {
    const { body } = await ban('203.0.113.7', { duration: '1h30m' });
    expect(body.decision.expires_at).toBe(new Date(now + 5_400_000).toISOString());
    now += 5_399_999;
    expect(await list()).toHaveLength(1);
    now += 1;
    expect(await list()).toEqual([]);
    expect((await app.send('DELETE', `/security/decisions/${body.decision.id}`)).status).toBe(404);
  });

  test('deletes once', async () => {
    const { id } = (await ban('203.0.113.7')).body.decision;
    const deleted = await app.send('DELETE', `/security/decisions/${id}`);
    expect(deleted.status).toBe(204);
    expect(deleted.body).toBe('');
    expect(await app.send('DELETE', `/security/decisions/${id}`)).toMatchObject({
      status: 404,
      body: { error: 'Decision not found', code: 404 },
    });
    expect((await app.send('DELETE', '/security/decisions/nope')).status).toBe(400);
    expect((await app.send('DELETE', '/security/decisions/99999999999')).status).toBe(400);
  });

  test('limit is 1 to 1000 and 50 by default', async () => {
    for (let index = 1; index <= 52; index += 1) await ban(`203.0.113.${index}`);
    expect(await list()).toHaveLength(50);
    expect(await list('?limit=1')).toHaveLength(1);
    expect(await list('?limit=1000')).toHaveLength(52);
    for (const limit of ['0', '1001', '-1', 'x', '1.5']) {
      const answer = await app.send<ErrorBody>('GET', `/security/decisions?limit=${limit}`);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain('limit');
    }
  });

  test('survives a restart', async () => {
    await ban('203.0.113.7');
    await app.restart();
    expect((await list()).map(({ ip }) => ip)).toEqual(['203.0.113.7']);
  });
});
