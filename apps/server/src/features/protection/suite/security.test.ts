import { readFileSync } from 'node:fs';
import type { ErrorBody, GuardConfig, SecurityConfigAnswer, SecurityStatus } from '@sallyport/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { guardConfigPath } from './guard-config-file.ts';

/** Makes the caller anybody but a local one: requests that came through a proxy never are. */
const THROUGH_PROXY = { 'x-forwarded-for': '192.0.2.1' };

onBothDatabases('security', (kind) => {
  let app: TestApp;

  const configure = (body: unknown, headers: Record<string, string> = {}) =>
    app.send<SecurityConfigAnswer & ErrorBody>('POST', '/security/config', body, headers);
  const status = async () => (await app.send<SecurityStatus>('GET', '/security/status')).body;
  const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    app.send<ErrorBody & { token: string; enabled: boolean }>('POST', `/security/${path}`, body, headers);

  describe('switching on and off', () => {
    beforeAll(async () => {
      app = await startApp(kind);
    });
    afterAll(() => app.stop());
    beforeEach(async () => {
      await configure({ enabled: false, admin_whitelist: '' });
    });

    test('refuses to switch on what could lock the caller out', async () => {
      const answer = await post('enable');
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain('admin_whitelist');
      expect((await post('enable', { break_glass_token: 'f'.repeat(64) })).status).toBe(400);
      expect((await status()).enabled).toBe(false);
    });

    test('switches on with a whitelist and off again', async () => {
      await configure({ admin_whitelist: '198.51.100.10' });
      expect(await post('enable')).toMatchObject({ status: 200, body: { enabled: true } });
      expect(await status()).toMatchObject({ enabled: true, guard: { enabled: true } });
      expect((await app.send<SecurityConfigAnswer>('GET', '/security/config')).body.config?.enabled).toBe(true);
      expect(await post('disable')).toMatchObject({ status: 200, body: { enabled: false } });
      expect((await status()).enabled).toBe(false);
    });

    test('a break-glass token protects from lock-out as well', async () => {
      const { token } = (await post('breakglass/generate')).body;
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      expect(await post('enable', { break_glass_token: token })).toMatchObject({
        status: 200,
        body: { enabled: true },
      });
    });

    test('keeps only the hash of the newest token', async () => {
      const first = (await post('breakglass/generate')).body.token;
      const second = (await post('breakglass/generate')).body.token;
      expect(second).not.toBe(first);
      expect((await post('enable', { break_glass_token: first })).status).toBe(400);
      expect((await post('enable', { break_glass_token: second })).status).toBe(200);
    });

    test('the master switch of the configuration is the setting feature.guard.enabled', async () => {
      await configure({ enabled: true, admin_whitelist: '127.0.0.1' });
      expect((await status()).enabled).toBe(true);
      await configure({ enabled: false });
      expect((await status()).enabled).toBe(false);
    });
  });

  describe('callers from elsewhere', () => {
    beforeAll(async () => {
      app = await startApp(kind, { SALLYPORT_API_AUTH: 'open', SALLYPORT_TRUSTED_PROXIES: '127.0.0.1' });
    });
    afterAll(() => app.stop());
    beforeEach(async () => {
      await configure({ enabled: false });
    });

    test('disable takes a token, which then is used up', async () => {
      await configure({ enabled: true, admin_whitelist: '127.0.0.1,192.0.2.1' });
      const { token } = (await post('breakglass/generate')).body;
      for (const body of [{}, { break_glass_token: '' }, { break_glass_token: 'a'.repeat(64) }]) {
        expect((await post('disable', body, THROUGH_PROXY)).status).toBe(401);
      }
      expect((await status()).enabled).toBe(true);
      expect((await post('disable', { break_glass_token: token }, THROUGH_PROXY)).status).toBe(200);
      expect((await status()).enabled).toBe(false);
      await configure({ enabled: true });
      expect((await post('disable', { break_glass_token: token }, THROUGH_PROXY)).status).toBe(401);
      expect((await status()).enabled).toBe(true);
    });

    test('no other way to the switch gets round the token or the whitelist', async () => {
      expect((await configure({ enabled: true, admin_whitelist: '' }, THROUGH_PROXY)).status).toBe(400);
      expect((await configure({ enabled: true, admin_whitelist: '' })).status).toBe(400);
      await configure({ enabled: true, admin_whitelist: '192.0.2.1' });
      expect((await configure({ enabled: false }, THROUGH_PROXY)).status).toBe(403);
      expect((await status()).enabled).toBe(true);
      const emptied = await configure({ admin_whitelist: '' });
      expect(emptied.body.warning).toContain('admin_whitelist is empty while the suite is on');
    });

    test('enable takes a whitelist that holds the caller', async () => {
      await configure({ admin_whitelist: '198.51.100.0/24' });
      expect((await post('enable', {}, THROUGH_PROXY)).status).toBe(400);
      expect((await configure({ enabled: true }, THROUGH_PROXY)).status).toBe(400);
      expect((await status()).enabled).toBe(false);
      await configure({ admin_whitelist: '192.0.2.0/24' });
      expect((await post('enable', {}, THROUGH_PROXY)).status).toBe(200);
    });
  });

  test('a break-glass token works for who has no session, and guesses are counted like failed sign-ins', async () => {
    app = await startApp(kind, { SALLYPORT_API_AUTH: 'required', SALLYPORT_TRUSTED_PROXIES: '127.0.0.1' });
    const credentials = { email: 'admin@example.com', password: 'a long enough password' };
    const { token: session } = (await app.send<{ token: string }>('POST', '/setup', credentials)).body;
    const admin = { authorization: `Bearer ${session}` };
    await configure({ enabled: true, admin_whitelist: '127.0.0.1' }, admin);
    const { token } = (await post('breakglass/generate', {}, admin)).body;
    const isOn = async () => (await app.send<SecurityStatus>('GET', '/security/status', undefined, admin)).body.enabled;
    const from = (ip: string) => ({ 'x-forwarded-for': ip });
    const guess = (ip: string) => post('disable', { break_glass_token: 'a'.repeat(64) }, from(ip));
    // On this host, too: mode required trusts nobody for where they are.
    expect((await post('disable', {})).status).toBe(401);
    for (let tried = 0; tried < 5; tried++) expect((await guess('192.0.2.7')).status).toBe(401);
    const throttled = await guess('192.0.2.7');
    expect(throttled.status).toBe(429);
    expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post('disable', { break_glass_token: token }, from('192.0.2.7'))).status).toBe(429);
    expect(await isOn()).toBe(true);
    // Guesses from many addresses keep nobody out who has it.
    for (let last = 10; last < 70; last++) await guess(`192.0.2.${last}`);
    expect((await post('disable', { break_glass_token: token }, from('198.51.100.9'))).status).toBe(200);
    expect(await isOn()).toBe(false);
    const { body: trail } = await app.send<{ action: string; ip: string }[]>('GET', '/audit-logs', undefined, admin);
    expect(trail[0]).toMatchObject({ action: 'security.disable', actor: 'anonymous', ip: '198.51.100.9' });
    expect(trail.map(({ action }) => action)).toContain('security.disable_refused');
    await app.stop();
  });

  test('switches in the settings act, with what they stand for in the configuration of the guards', async () => {
    app = await startApp(kind);
    const credentials = { email: 'admin@example.com', password: 'a long enough password' };
    const { token } = (await app.send<{ token: string }>('POST', '/setup', credentials)).body;
    const set = (key: string, value: string) =>
      app.send('POST', '/settings', { key, value }, { authorization: `Bearer ${token}` });
    const guards = () => JSON.parse(readFileSync(guardConfigPath(app.dataDir), 'utf8')) as GuardConfig;
    await set('security.waf.enabled', 'true');
    await set('security.acl.enabled', 'true');
    expect(await status()).toMatchObject({
      enabled: false,
      waf: { enabled: true },
      acl: { enabled: true, mode: 'enabled' },
    });
    expect(guards()).toMatchObject({ access: { enabled: false }, waf: { enabled: false } });
    // The same rule as for POST /security/enable: nothing would let anybody but this host back in.
    expect((await set('feature.guard.enabled', 'true')).status).toBe(400);
    await configure({ admin_whitelist: '192.0.2.9' });
    expect((await set('feature.guard.enabled', 'true')).status).toBe(200);
    await eventually(guards).toMatchObject({ access: { enabled: true }, waf: { enabled: true, mode: 'block' } });
    expect(await status()).toMatchObject({ enabled: true });
    await configure({ waf_mode: 'monitor', waf_paranoia_level: 2, waf_exclusions: [{ rule_id: 942100 }] });
    expect(guards().waf.mode).toBe('monitor');
    const texts = guards().waf.rule_sources.flatMap((source) => (source.kind === 'text' ? [source.text] : []));
    expect(texts.join('')).toContain('setvar:tx.paranoia_level=2');
    expect(texts.at(-1)).toBe('SecRuleRemoveById "942100"\n');
    await set('feature.guard.enabled', 'false');
    await eventually(guards).toMatchObject({ access: { enabled: false }, waf: { enabled: false } });

    // What is switched on but does not run is never told as enforced.
    expect((await configure({ crowdsec_mode: 'local' })).body.warning).toContain('CrowdSec does not run here');
    await set('security.crowdsec.enabled', 'true');
    await set('feature.guard.enabled', 'true');
    const told = await status();
    expect(told).toMatchObject({ applied: false, crowdsec: { enabled: true, mode: 'local', running: false } });
    expect(told.issue).toContain('CrowdSec is switched on but does not run here');
    await configure({ crowdsec_mode: 'disabled' });
    expect((await status()).issue ?? '').not.toContain('CrowdSec');
    await app.stop();
  });

  test('demands an administrator or a local caller for every change', async () => {
    app = await startApp(kind);
    for (const [method, path] of [
      ['POST', 'config'],
      ['POST', 'enable'],
      ['POST', 'breakglass/generate'],
      ['POST', 'exclusions'],
      ['POST', 'decisions'],
      ['POST', 'rulesets'],
      ['PUT', 'notifications/settings'],
      ['POST', 'notifications/test'],
    ] as const) {
      const answer = await app.send(method, `/security/${path}`, {}, THROUGH_PROXY);
      expect(answer.status).toBe(401);
    }
    expect((await app.send('GET', '/security/blocks/x')).status).toBe(403);
    await app.stop();
  });
});
