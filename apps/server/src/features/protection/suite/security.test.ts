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

  describe('configuration', () => {
    beforeAll(async () => {
      app = await startApp(kind);
    });
    afterAll(() => app.stop());

    test('is null before anything is configured', async () => {
      expect(await app.send('GET', '/security/config')).toMatchObject({ status: 200, body: { config: null } });
      expect(await status()).toMatchObject({
        enabled: false,
        guard: { enabled: false },
        waf: { enabled: false, mode: 'block' },
        crowdsec: { enabled: false, mode: 'disabled', running: false },
        acl: { enabled: false, mode: 'disabled' },
        rate_limit: { enabled: false, mode: 'disabled' },
      });
    });

    test.each([
      ['admin_whitelist', '10.0.0.0/8, example.com', 'admin_whitelist "example.com" is not an IP address'],
      ['admin_whitelist', '10.0.0.0/8;11.0.0.0/8', 'admin_whitelist'],
      ['admin_whitelist', '10.0.0/8', 'admin_whitelist "10.0.0/8" is not an IP address'],
      [
        'rate_limit_bypass_list',
        '10.0.0.0/99',
        'rate_limit_bypass_list "10.0.0.0/99" has a prefix length outside 0–32',
      ],
      ['waf_mode', 'off', 'waf_mode must be one of: monitor, block'],
      ['crowdsec_mode', 'remote', 'crowdsec_mode must be one of: local, disabled'],
      ['waf_paranoia_level', 0, 'waf_paranoia_level must be between 1 and 4'],
      ['waf_paranoia_level', 5, 'waf_paranoia_level must be between 1 and 4'],
      ['waf_anomaly_threshold', 0, 'waf_anomaly_threshold must be between'],
      ['waf_fail_mode', 'ajar', 'waf_fail_mode must be one of: closed, open'],
      ['rate_limit_requests', 0, 'rate_limit_requests must be between'],
      ['rate_limit_requests', '100', 'rate_limit_requests must be an integer'],
      ['rate_limit_window_sec', 0, 'rate_limit_window_sec must be between'],
      ['rate_limit_burst', -1, 'rate_limit_burst must be between'],
      ['name', '  ', 'name is required'],
      ['enabled', 'yes', 'enabled must be a boolean'],
      ['waf_exclusions', [{ rule_id: 0 }], 'waf_exclusions[0]'],
      ['waf_exclusions', [{ rule_id: '942199-942100' }], 'waf_exclusions[0].rule_id must be a rule id or a range'],
      ['waf_exclusions', [{ rule_id: '1; drop' }], 'waf_exclusions[0].rule_id must be a rule id or a range'],
      ['waf_exclusions', [{ rule_id: '1-5', path: '/x' }], 'waf_exclusions[0].rule_id can be a range only without'],
      ['waf_exclusions', [{ rule_id: 1, target: 'ARGS:a"\nSecRuleEngine Off' }], 'waf_exclusions[0].target'],
      ['waf_exclusions', [{ rule_id: 1, target: 'NO_SUCH:a' }], 'waf_exclusions target "NO_SUCH:a" is not valid'],
      ['waf_exclusions', [{ rule_id: 1, path: 'x' }], 'waf_exclusions[0].path'],
      ['waf_exclusions', [{ rule_id: 1, host_uuid: 'x' }], 'waf_exclusions[0].host_uuid must be a valid uuid'],
      ['waf_exclusions', [{ rule_id: 1, expires_at: 'soon' }], 'waf_exclusions[0].expires_at'],
      ['waf_exclusions', [{ target: 'ARGS' }], 'waf_exclusions[0].rule_id is required'],
      ['waf_allowed_methods', ',', 'waf_allowed_methods names nothing'],
      ['waf_allowed_methods', "GET,P'UT", 'waf_allowed_methods: "P\'UT" is not a request method'],
      ['waf_allowed_content_types', 'text', 'waf_allowed_content_types: "text" is not a media type'],
      ['waf_allowed_content_types', 'a/b|c/d', 'waf_allowed_content_types: "a/b|c/d" is not a media type'],
      ['waf_body_limit', 0, 'waf_body_limit must be between 1024 and 104857600'],
      ['waf_body_limit', 2 ** 31, 'waf_body_limit must be between 1024 and 104857600'],
    ])('refuses %s %j and stores nothing', async (field, value, message) => {
      const answer = await configure({ [field]: value });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain(message);
      expect((await app.send<SecurityConfigAnswer>('GET', '/security/config')).body.config).toBeNull();
    });

    test('writes methods and media types in one form', async () => {
      const setup = { waf_allowed_methods: 'get, PUT,get', waf_allowed_content_types: 'Text/Plain, application/JSON' };
      const another = await startApp(kind);
      const answer = await another.send<SecurityConfigAnswer>('POST', '/security/config', setup);
      expect(answer.body.config).toMatchObject({
        waf_allowed_methods: 'GET,PUT',
        waf_allowed_content_types: 'text/plain,application/json',
      });
      await another.stop();
    });

    test('takes what is given, gives defaults to the rest, and keeps it on the next change', async () => {
      const first = await configure({
        name: 'default',
        admin_whitelist: ' 198.51.100.10, 203.0.113.77/24 ,2001:DB8::1/32,198.51.100.10',
        crowdsec_mode: 'local',
        waf_mode: 'monitor',
        waf_rules_source: 'owasp',
      });
      expect(first.status).toBe(200);
      expect(first.body.config).toMatchObject({
        name: 'default',
        enabled: false,
        admin_whitelist: '198.51.100.10,203.0.113.0/24,2001:db8::/32',
        crowdsec_mode: 'local',
        waf_mode: 'monitor',
        waf_rules_source: 'owasp',
        webhook_url: '',
        rate_limit_requests: 100,
        rate_limit_window_sec: 60,
        rate_limit_burst: 20,
        rate_limit_bypass_list: '',
        waf_paranoia_level: 1,
        waf_anomaly_threshold: 5,
        waf_fail_mode: 'closed',
        waf_allowed_methods: 'GET,HEAD,POST,OPTIONS,PUT,PATCH,DELETE',
        waf_allowed_content_types: expect.stringContaining('application/json,'),
        waf_body_limit: 13_107_200,
        waf_exclusions: [],
      });
      const second = await configure({ waf_paranoia_level: 3, waf_mode: 'block' });
      expect(second.body.config).toEqual({
        ...first.body.config,
        waf_paranoia_level: 3,
        waf_mode: 'block',
        updated_at: second.body.config?.updated_at,
      });
      expect((await app.send<SecurityConfigAnswer>('GET', '/security/config')).body).toEqual({
        config: second.body.config,
      });
      expect((await configure(second.body.config)).body.config).toMatchObject({ waf_paranoia_level: 3 });
      await app.restart();
      expect((await app.send<SecurityConfigAnswer>('GET', '/security/config')).body.config).toMatchObject({
        waf_paranoia_level: 3,
      });
    });

    test.each([
      'https://127.0.0.1/hook',
      'https://10.1.2.3/hook',
      'https://[::1]/hook',
      'https://[::ffff:169.254.169.254]/x',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://localhost/hook',
      'https://metadata.google.internal/',
      'https://192.168.0.1:8443/',
    ])('refuses the webhook %s', async (webhook_url) => {
      expect(await configure({ webhook_url })).toMatchObject({
        status: 400,
        body: { error: 'Invalid webhook URL: URL resolves to a private IP address (blocked for security)' },
      });
    });

    test.each(['http://8.8.8.8/', 'ftp://8.8.8.8/', 'nonsense', 'https://user:pw@8.8.8.8/'])(
      'refuses the webhook %s',
      async (webhook_url) => {
        const answer = await configure({ webhook_url });
        expect(answer.status).toBe(400);
        expect(answer.body.error).toMatch(/^Invalid webhook URL: /);
      },
    );

    test('takes a public webhook, and one whose name does not resolve now', async () => {
      expect((await configure({ webhook_url: 'https://8.8.8.8/hook' })).status).toBe(200);
      expect((await configure({ webhook_url: 'https://hooks.invalid/x' })).status).toBe(200);
      expect((await configure({ webhook_url: '' })).body.config?.webhook_url).toBe('');
    });

    test('warns about a rules source that there is not', async () => {
      const answer = await configure({ waf_rules_source: 'mine' });
      expect(answer.status).toBe(200);
      expect(answer.body.warning).toContain('no ruleset is named "mine"');
    });

    test('adds exclusions one by one, each once', async () => {
      const exclusion = { rule_id: 942100, target: 'ARGS:comment', path: '/blog', description: 'false alarm' };
      for (const _ of [1, 2]) {
        const answer = await app.send<SecurityConfigAnswer>('POST', '/security/exclusions', exclusion);
        expect(answer.status).toBe(201);
        expect(answer.body.config?.waf_exclusions).toEqual([exclusion]);
      }
    });
  });

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
