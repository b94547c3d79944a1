import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, parseConfig } from './config.ts';
import { readEnvironment } from './config-sources.ts';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parseConfig(env, '/srv');
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe('configuration', () => {
  test('has the defaults of contract.md', () => {
    const config = parseConfig({}, '/srv');
    expect(config).toMatchObject({
      dataDir: '/srv/data',
      httpBind: { host: '127.0.0.1', port: 8080 },
      proxyHttp: undefined,
      apiAuth: 'local',
      emergencyToken: undefined,
      trustedProxies: [],
      guards: Math.max(2, Math.ceil(availableParallelism() / 2)),
      guardTimeoutMs: 1_000,
      proxyHttps: undefined,
      sessionSecret: undefined,
      encryptionKey: undefined,
      emergencyBasicAuth: undefined,
      databaseUrl: undefined,
      proxyProtocol: false,
      logLevel: 'info',
      logFormat: 'text',
      crowdsecPort: 8_085,
      crowdsecConsole: undefined,
      dockerSocket: '/var/run/docker.sock',
    });
    expect(config.managementCidrs.map(String)).toEqual([
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '127.0.0.0/8',
    ]);
  });

  test.each([
    ['SALLYPORT_HTTP_BIND', '8080'],
    ['SALLYPORT_HTTP_BIND', '127.0.0.1:0'],
    ['SALLYPORT_HTTP_BIND', '127.0.0.1:65536'],
    ['SALLYPORT_HTTP_BIND', 'example.com:80'],
    ['SALLYPORT_PROXY_HTTP', ':http'],
    ['DATABASE_URL', 'mysql://x'],
    ['SALLYPORT_API_AUTH', 'none'],
    ['SALLYPORT_SESSION_SECRET', 'short'],
    ['SALLYPORT_EMERGENCY_TOKEN', 'short'],
    ['SALLYPORT_MANAGEMENT_CIDRS', '10.0.0.0/33'],
    ['SALLYPORT_TRUSTED_PROXIES', '10.0.0.0/8,nonsense'],
    ['SALLYPORT_TRUSTED_PROXIES', '010.1.1.1'],
    ['SALLYPORT_EMERGENCY_BASIC_AUTH', 'nobody'],
    ['SALLYPORT_LOG_LEVEL', 'loud'],
    ['SALLYPORT_LOG_FORMAT', 'xml'],
    ['SALLYPORT_GUARD_TIMEOUT', '1000'],
    ['SALLYPORT_GUARD_TIMEOUT', '0ms'],
    ['SALLYPORT_CROWDSEC_PORT', '0'],
    ['SALLYPORT_CROWDSEC_PORT', '127.0.0.1:8085'],
    ['SALLYPORT_GUARD_TIMEOUT', '61s'],
    ['SALLYPORT_GUARD_TIMEOUT', '1.5s'],
    ['SALLYPORT_GUARD_TIMEOUT', '-1s'],
    ['SALLYPORT_GUARD_TIMEOUT', '1sec'],
    ['SALLYPORT_GUARD_TIMEOUT', '60001ms'],
    ['SALLYPORT_GUARDS', '1'],
    ['SALLYPORT_GUARDS', '65'],
    ['SALLYPORT_GUARDS', 'x4'],
    ['SALLYPORT_GUARDS', '4x'],
    ['SALLYPORT_ENCRYPTION_KEY', 'k'.repeat(31)],
    ['SALLYPORT_EMERGENCY_BASIC_AUTH', ':password'],
    ['SALLYPORT_EMERGENCY_BASIC_AUTH', 'user:'],
    ['SALLYPORT_PROXY_PROTOCOL', 'yes'],
    ['SALLYPORT_CROWDSEC_PORT', '0'],
    ['SALLYPORT_CROWDSEC_PORT', '65536'],
    ['SALLYPORT_CROWDSEC_CONSOLE', 'http://console.example.com'],
    ['SALLYPORT_CROWDSEC_CONSOLE', 'https://console.example.com/v2'],
    ['SALLYPORT_CROWDSEC_CONSOLE', 'https://user@console.example.com'],
    ['SALLYPORT_CROWDSEC_CONSOLE', 'console.example.com'],
    ['SALLYPORT_CROWDSEC_PORT', '8085x'],
    ['SALLYPORT_CROWDSEC_PORT', 'x8085'],
    ['SALLYPORT_DOCKER_SOCKET', 'docker.sock'],
    ['SALLYPORT_DOCKER_SOCKET', 'unix:///var/run/docker.sock'],
    ['SALLYPORT_DOCKER_SOCKET', `/${'s'.repeat(107)}`],
    ['SALLYPORT_DOCKER_SOCKET', '/run/\0docker.sock'],
    ['SALLYPORT_PROXY_HTTPS', 'example.com:443'],
    ['DATABASE_URL', 'http://postgres://db/x'],
    ['DATABASE_URL', 'postgres://[db/x'],
  ])('names %s when its value is bad', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} (must|the host must|")`));
  });

  test.each([
    'SALLYPORT_API_AUTH',
    'SALLYPORT_ENCRYPTION_KEY',
    'SALLYPORT_MANAGEMENT_CIDRS',
    'SALLYPORT_EMERGENCY_BASIC_AUTH',
    'SALLYPORT_DOCKER_SOCKET',
  ])('refuses an empty %s, which would protect less than a value', (name) => {
    expect(problemsOf({ [name]: '' })).toEqual([`${name} must not be empty: give it a value, or remove it`]);
  });

  test('takes every setting', () => {
    const text = (letter: string) => letter.repeat(32);
    const config = parseConfig(
      {
        SALLYPORT_DATA_DIR: 'elsewhere',
        SALLYPORT_HTTP_BIND: ':8081',
        SALLYPORT_PROXY_HTTP: '[::]:81',
        SALLYPORT_PROXY_HTTPS: '192.0.2.1:444',
        DATABASE_URL: 'postgresql://db/x',
        SALLYPORT_SESSION_SECRET: text('s'),
        SALLYPORT_ENCRYPTION_KEY: text('k'),
        SALLYPORT_EMERGENCY_TOKEN: text('t'),
        SALLYPORT_MANAGEMENT_CIDRS: '10.1.2.3, ,2001:db8::/32,',
        SALLYPORT_EMERGENCY_BIND: '127.0.0.1:2020',
        SALLYPORT_EMERGENCY_BASIC_AUTH: 'user:pass:word',
        SALLYPORT_TRUSTED_PROXIES: '192.0.2.0/24',
        SALLYPORT_GUARDS: '2',
        SALLYPORT_GUARD_TIMEOUT: '60s',
        SALLYPORT_PROXY_PROTOCOL: 'true',
        SALLYPORT_CROWDSEC_PORT: '65535',
        SALLYPORT_CROWDSEC_CONSOLE: 'https://console.example.com:8443/',
        SALLYPORT_DOCKER_SOCKET: `/${'s'.repeat(106)}`,
        SALLYPORT_LOG_FORMAT: 'json',
        PATH: '/bin',
      },
      '/srv',
    );
    expect({
      ...config,
      managementCidrs: config.managementCidrs.map(String),
      trustedProxies: config.trustedProxies.map(String),
    }).toEqual({
      dataDir: '/srv/elsewhere',
      httpBind: { host: '', port: 8_081 },
      proxyHttp: { host: '::', port: 81 },
      proxyHttps: { host: '192.0.2.1', port: 444 },
      databaseUrl: 'postgresql://db/x',
      apiAuth: 'local',
      sessionSecret: text('s'),
      encryptionKey: text('k'),
      emergencyToken: text('t'),
      managementCidrs: ['10.1.2.3/32', '2001:db8::/32'],
      emergencyBind: { host: '127.0.0.1', port: 2_020 },
      emergencyBasicAuth: { user: 'user', password: 'pass:word' },
      trustedProxies: ['192.0.2.0/24'],
      guards: 2,
      guardTimeoutMs: 60_000,
      proxyProtocol: true,
      crowdsecPort: 65_535,
      crowdsecConsole: 'https://console.example.com:8443',
      dockerSocket: `/${'s'.repeat(106)}`,
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  test.each([
    [{ SALLYPORT_API_AUTH: 'local' }, { apiAuth: 'local' }],
    [{ SALLYPORT_API_AUTH: 'required' }, { apiAuth: 'required' }],
    [{ SALLYPORT_API_AUTH: 'open' }, { apiAuth: 'open' }],
    [{ SALLYPORT_LOG_LEVEL: '' }, { logLevel: 'info' }],
    [
      { SALLYPORT_TRUSTED_PROXIES: '', SALLYPORT_EMERGENCY_TOKEN: '' },
      { trustedProxies: [], emergencyToken: undefined },
    ],
    [{ SALLYPORT_PROXY_PROTOCOL: 'false' }, { proxyProtocol: false }],
    [{ SALLYPORT_GUARD_TIMEOUT: '1ms' }, { guardTimeoutMs: 1 }],
    [{ SALLYPORT_GUARD_TIMEOUT: '750ms' }, { guardTimeoutMs: 750 }],
    [{ SALLYPORT_GUARDS: '64' }, { guards: 64 }],
    [{ SALLYPORT_DOCKER_SOCKET: 'off' }, { dockerSocket: undefined }],
    [{ SALLYPORT_LOG_LEVEL: 'debug' }, { logLevel: 'debug' }],
    [{ SALLYPORT_LOG_LEVEL: 'info' }, { logLevel: 'info' }],
    [{ SALLYPORT_LOG_LEVEL: 'warn' }, { logLevel: 'warn' }],
    [{ SALLYPORT_LOG_LEVEL: 'error' }, { logLevel: 'error' }],
    [{ SALLYPORT_EMERGENCY_BASIC_AUTH: 'u:p' }, { emergencyBasicAuth: { user: 'u', password: 'p' } }],
    [{ SALLYPORT_LOG_FORMAT: 'text' }, { logFormat: 'text' }],
  ])('reads %j', (env, config) => {
    expect(parseConfig(env, '/srv')).toMatchObject(config);
  });

  test('is refused as a whole, each problem after the other', () => {
    expect(() => parseConfig({ SALLYPORT_GUARDS: '1', SALLYPORT_API_AUTH: 'x' }, '/srv')).toThrow(
      'SALLYPORT_API_AUTH must be one of local, required, open; SALLYPORT_GUARDS must be a number from 2 to 64',
    );
  });

  test('reports every problem at once, unknown variables among them, and no secret', () => {
    const problems = problemsOf({
      SALLYPORT_API_AUTH: 'x',
      SALLYPORT_DATADIR: '/tmp',
      SALLYPORT_SESSION_SECRET: 'hunter2',
    });
    expect(problems).toHaveLength(3);
    expect(problems.join()).toContain('SALLYPORT_DATADIR is not a setting');
    expect(problems.join()).not.toContain('hunter2');
  });

  test.each([
    ['/srv/a,b', 'must not hold'],
    ['/srv/$HOME', 'must not hold'],
    ["/srv/it's", 'must not hold'],
    ['/srv/a\nb', 'must not hold'],
    [`/${'a'.repeat(71)}`, 'must have at most 71 bytes'],
    [`/${'ä'.repeat(36)}`, 'must have at most 71 bytes'],
  ])('a data directory whose sockets HAProxy can not be told of is refused: %j', (dataDir, reason) => {
    expect(problemsOf({ SALLYPORT_DATA_DIR: dataDir })).toEqual([
      expect.stringMatching(new RegExp(`^SALLYPORT_DATA_DIR ${reason}`)),
    ]);
    // What runs with it is found nevertheless.
    expect(parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/', { isRunning: true }).dataDir).toBe(dataDir);
  });

  test('nor is one taken that nobody chose', () => {
    expect(() => parseConfig({}, '/srv/a,b')).toThrow('SALLYPORT_DATA_DIR must not hold');
    expect(parseConfig({ SALLYPORT_DATA_DIR: `/${'a'.repeat(70)}` }, '/').dataDir).toHaveLength(71);
    expect(parseConfig({ SALLYPORT_DATA_DIR: '/srv/ä b#c"d{e}' }, '/').dataDir).toBe('/srv/ä b#c"d{e}');
  });

  test('refuses an emergency listener without a token', () => {
    expect(problemsOf({ SALLYPORT_EMERGENCY_BIND: '127.0.0.1:2020' })).toEqual([
      'SALLYPORT_EMERGENCY_BIND needs SALLYPORT_EMERGENCY_TOKEN',
    ]);
  });
});

describe('where the configuration comes from', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-config-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  test('flags win over the environment, which wins over .env in the data directory', () => {
    writeFileSync(
      join(dataDir, '.env'),
      'SALLYPORT_HTTP_BIND=127.0.0.1:1\nSALLYPORT_LOG_LEVEL=debug\nSALLYPORT_API_AUTH=open\n',
    );
    const merged = readEnvironment(
      ['--http-bind=127.0.0.1:3', '--database-url', 'postgres://db/x'],
      { SALLYPORT_DATA_DIR: dataDir, SALLYPORT_HTTP_BIND: '127.0.0.1:2', SALLYPORT_API_AUTH: 'required' },
      '/srv',
    );
    expect(parseConfig(merged, '/srv')).toMatchObject({
      httpBind: { port: 3 },
      apiAuth: 'required',
      logLevel: 'debug',
      databaseUrl: 'postgres://db/x',
    });
  });

  test.each([
    '--emergency-token=x',
    '--session-secret=x',
    '--encryption-key=x',
    '--emergency-basic-auth=x',
    '--database-url=postgres://u:p@db/x',
  ])('refuses %s, which other users could read', (flag) => {
    expect(() => readEnvironment([flag], {}, '/srv')).toThrow(`${flag.split('=')[0]} would show a secret`);
  });

  test.each([
    [['--http-bind']],
    [['surprise']],
    [['--http-bind', '--log-level=info']],
    [['--http-bind', '--log-level', 'info']],
    [['--http-bind', ':1', ':2']],
    [['--', '--http-bind=:1']],
    [['--http-bind', '--']],
  ])('refuses %j', (argv) => {
    expect(() => readEnvironment(argv, {}, '/srv')).toThrow(ConfigError);
  });

  test('a data directory is looked for where the strongest says, and needs no .env', () => {
    const other = mkdtempSync(join(tmpdir(), 'sallyport-config-'));
    const relative = join(other, 'data');
    try {
      expect(readEnvironment([], { SALLYPORT_DATA_DIR: join(other, 'none') }, '/srv')).not.toHaveProperty(
        'DATABASE_URL',
      );
      writeFileSync(join(other, '.env'), 'SALLYPORT_GUARDS=7\n');
      mkdirSync(relative);
      writeFileSync(join(relative, '.env'), 'SALLYPORT_GUARDS=8\n');
      const found = (argv: string[], env: Record<string, string>) => readEnvironment(argv, env, other).SALLYPORT_GUARDS;
      expect(found(['--data-dir', other], { SALLYPORT_DATA_DIR: '/nowhere' })).toBe('7');
      expect(found([], { SALLYPORT_DATA_DIR: other })).toBe('7');
      expect(found([], { SALLYPORT_DATA_DIR: '' })).toBe('8');
      // Not a directory: refused where it is opened.
      expect(found(['--data-dir', join(other, '.env')], {})).toBeUndefined();
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test('an .env that can not be read is no empty one', () => {
    const other = mkdtempSync(join(tmpdir(), 'sallyport-config-'));
    try {
      mkdirSync(join(other, '.env'));
      expect(() => readEnvironment([], { SALLYPORT_DATA_DIR: other }, '/srv')).toThrow(/\.env can not be read: EISDIR/);
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test('a URL without a password shows nothing, and one that is none is refused later', () => {
    for (const url of ['postgres://u@db/x', 'nonsense']) {
      expect(readEnvironment(['--database-url', url], {}, '/srv')).toMatchObject({ DATABASE_URL: url });
    }
  });
});
