import type { ErrorBody, SecurityConfigAnswer, SecurityStatus } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('security configuration', (kind) => {
  let app: TestApp;

  const configure = (body: unknown, headers: Record<string, string> = {}) =>
    app.send<SecurityConfigAnswer & ErrorBody>('POST', '/security/config', body, headers);
  const status = async () => (await app.send<SecurityStatus>('GET', '/security/status')).body;

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
    ['rate_limit_bypass_list', '10.0.0.0/99', 'rate_limit_bypass_list "10.0.0.0/99" has a prefix length outside 0–32'],
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
