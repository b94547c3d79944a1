import { join } from 'node:path';
import type { AuditEntry, EmergencyReset, EmergencyStatus, Setting } from '@sallyport/contract';
import { afterEach, expect, test } from 'vitest';
import { createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const TOKEN = 'e'.repeat(64);
const PATH = '/emergency/security-reset';
const KEYS = [
  'feature.guard.enabled',
  'security.acl.enabled',
  'security.waf.enabled',
  'security.rate_limit.enabled',
  'security.crowdsec.enabled',
];

onBothDatabases('the emergency reset', (kind) => {
  let app: TestApp;
  afterEach(() => app.stop());

  let headers: Record<string, string>;
  const start = async (env: Record<string, string> = {}) => {
    app = await startApp(kind, env);
    ({ headers } = await createGiven(app).administrator());
  };

  const settings = async () => {
    const { body } = await app.send<{ settings: Setting[] }>('GET', '/settings?per_page=100', undefined, headers);
    return new Map(body.settings.map(({ key, value }) => [key, value]));
  };
  const trail = async (): Promise<AuditEntry[]> =>
    (await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, headers)).body;

  test('sets the five keys off, whatever is sent with it, and writes down who did it', async () => {
    await start({ SALLYPORT_EMERGENCY_TOKEN: TOKEN });
    await app.send('POST', '/security/config', { admin_whitelist: '127.0.0.1' }, headers);
    for (const key of [...KEYS].reverse()) {
      expect((await app.send('POST', '/settings', { key, value: 'true' }, headers)).status).toBe(200);
    }
    const answer = await fetch(`${app.url}/api/v1${PATH}`, {
      method: 'POST',
      headers: { 'x-emergency-token': TOKEN, 'user-agent': 'phone', 'content-type': 'text/weird' },
      body: '{"not": json',
    });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as EmergencyReset;
    expect(body).toMatchObject({ success: true, disabled_modules: KEYS });
    const stored = await settings();
    expect(KEYS.map((key) => stored.get(key))).toEqual(KEYS.map(() => 'false'));
    const entry = (await trail()).find(({ action }) => action === 'emergency.reset');
    expect(entry).toMatchObject({ ip: '127.0.0.1', user_agent: 'phone', path: `/api/v1${PATH}`, method: 'POST' });
    expect(JSON.stringify(await trail())).not.toContain(TOKEN);
  });

  test('refuses a wrong token, one too many, and an address from elsewhere; each is written down', async () => {
    await start({ SALLYPORT_EMERGENCY_TOKEN: TOKEN });
    const reset = (headers: Record<string, string>) => app.send<EmergencyReset>('POST', PATH, undefined, headers);
    expect((await reset({})).status).toBe(401);
    for (let attempt = 2; attempt <= 5; attempt++) {
      expect((await reset({ 'x-emergency-token': `${TOKEN}${attempt}` })).status).toBe(401);
    }
    const refused = await reset({ 'x-emergency-token': TOKEN });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Its peer is a proxy that the deployment trusts.
    const elsewhere = { 'x-emergency-token': TOKEN, 'x-forwarded-for': '203.0.113.9' };
    expect((await reset(elsewhere)).status).toBe(403);
    expect((await reset({ ...elsewhere, 'x-forwarded-for': '10.9.8.7' })).status).toBe(200);
    const reasons = async () =>
      (await trail())
        .filter(({ action }) => action === 'emergency.refused')
        .map(({ details }) => JSON.stringify(details))
        .join();
    // They are stored after their answers, each on its own.
    for (const why of [/too many attempts/, /outside the management ranges/, /wrong token/, /no token/]) {
      await expect.poll(reasons).toMatch(why);
    }
  });

  test('is not there without a token, and the status says so', async () => {
    await start();
    expect((await app.send('POST', PATH, undefined, { 'x-emergency-token': '' })).status).toBe(501);
    expect((await app.send('GET', '/emergency/status')).body).toEqual({
      token_set: false,
      listener: null,
      last_proven_at: null,
      env_file: join(app.dataDir, '.env'),
      command: expect.stringMatching(/^\/.*\/bin\/sallyport$/),
    });
    await app.stop();
    app = await startApp(kind, { SALLYPORT_EMERGENCY_TOKEN: TOKEN, SALLYPORT_EMERGENCY_BIND: '127.0.0.1:2020' });
    const { body } = await app.send<EmergencyStatus>('GET', '/emergency/status');
    expect(body).toMatchObject({ token_set: true, listener: '127.0.0.1:2020' });
  });
});
