import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    ['SALLYPORT_GUARD_TIMEOUT', '61s'],
    ['SALLYPORT_GUARD_TIMEOUT', '1.5s'],
    ['SALLYPORT_GUARD_TIMEOUT', '-1s'],
  ])('names %s when its value is bad', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} `));
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

  test.each(['--emergency-token=x', '--session-secret=x', '--database-url=postgres://u:p@db/x'])(
    'refuses %s, which other users could read',
    (flag) => {
      expect(() => readEnvironment([flag], {}, '/srv')).toThrow(/show a secret/);
    },
  );

  test.each([[['--http-bind']], [['surprise']], [['--http-bind', '--log-level=info']]])('refuses %j', (argv) => {
    expect(() => readEnvironment(argv, {}, '/srv')).toThrow(ConfigError);
  });
});
