import { describe, expect, test } from 'vitest';
import { type ConfigSettings, checkSettings, defaultSettings, InvalidSetting } from './settings.ts';

const plain: ConfigSettings = {
  ...defaultSettings,
  http: [{ address: '0.0.0.0', port: 80 }],
  https: [{ address: '::', port: 443 }],
  adminSocket: '/run/admin.sock',
};
const guard = { agents: ['/a'], relays: ['/r'], spoeFile: '/s', returnSocket: '/b', timeoutMs: 1 };
const confinement = { user: 'sallyport', group: '_www-data', directory: '/run/x' };
const longest = `/${'a'.repeat(91)}`;

/** The setting that is refused and why, or undefined. */
const refusal = (parts: Partial<ConfigSettings>): string | undefined => {
  try {
    checkSettings({ ...plain, ...parts });
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidSetting);
    const { name, setting, message } = error as InvalidSetting;
    expect([name, message.startsWith(`${setting}: `)]).toEqual(['InvalidSetting', true]);
    return message;
  }
};

describe('settings that can be written into haproxy.cfg', () => {
  test.each<[string, Partial<ConfigSettings>]>([
    ['the defaults', {}],
    ['one listener', { http: [] }],
    ['the other', { https: [] }],
    ['the first and the last port', { http: [{ address: '127.0.0.1', port: 1 }], publicHttpsPort: 65_535 }],
    ['no port for redirects', { publicHttpsPort: null }],
    [
      'the longest path of a socket',
      { adminSocket: longest, eventSocket: longest, trafficSocket: longest, apiSocket: longest },
    ],
    ['a longer path of a file', { originAuthorities: `/${'a'.repeat(200)},$` }],
    ['addresses and networks', { trustedProxies: ['10.0.0.1', '10.0.0.0/0', '10.0.0.0/32', '::1', '::/0', '::/128'] }],
    ['a PROXY header of known peers', { proxyProtocol: true, trustedProxies: ['10.0.0.1'] }],
    ['the least', { threads: 1, maxConnections: 10, rateLimit: { windowSec: 1 }, bufferBytes: 16_384, guard }],
    [
      'the most',
      {
        threads: 64,
        maxConnections: 10_000_000,
        rateLimit: { windowSec: 86_400 },
        bufferBytes: 1_048_576,
        guard: { ...guard, timeoutMs: 60_000 },
      },
    ],
    ['a log', { log: { to: 'socket', path: '/dev/log' } }],
    ['a confinement', { confinement }],
    ['names of accounts', { confinement: { ...confinement, user: 'a', group: `_${'a'.repeat(31)}` } }],
  ])('%s', (_what, parts) => {
    expect(refusal(parts)).toBeUndefined();
  });
});

describe('settings that are refused', () => {
  const port = 'port must be 1-65535';
  const absolute = 'must be an absolute path';
  const quotes = 'must not hold quotes or control characters';
  const list = 'must not hold commas or $';
  const long = 'a unix socket path may have at most 92 bytes';
  const account = 'not the name of an account';
  const whole = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;
  const cidr = (text: string) => `not an address or CIDR: ${JSON.stringify(text)}`;

  test.each<[string, Partial<ConfigSettings>]>([
    [`http: ${port}`, { http: [{ address: '::', port: 0 }] }],
    [`http: ${port}`, { http: [{ address: '::', port: 65_536 }] }],
    [`https: ${port}`, { https: [{ address: '::', port: 1.5 }] }],
    ['http: not an IP address: "localhost"', { http: [{ address: 'localhost', port: 80 }] }],
    ['https: not an IP address: "fe80::1%eth0"', { https: [{ address: 'fe80::1%eth0', port: 443 }] }],
    ['http: no listening address', { http: [], https: [] }],
    [`publicHttpsPort: ${port}`, { publicHttpsPort: 0 }],
    [`adminSocket: ${absolute}`, { adminSocket: 'admin.sock' }],
    [`eventSocket: ${quotes}`, { eventSocket: "/a'b" }],
    [`trafficSocket: ${quotes}`, { trafficSocket: '/a\u007fb' }],
    [`apiSocket: ${quotes}`, { apiSocket: '/a\u001fb' }],
    [`log: ${list}`, { log: { to: 'socket', path: '/a,b' } }],
    [`adminSocket: ${list}`, { adminSocket: '/a$b' }],
    [`eventSocket: ${long}`, { eventSocket: `${longest}a` }],
    [`eventSocket: ${long}`, { eventSocket: `/${'é'.repeat(46)}` }],
    [`originAuthorities: ${absolute}`, { originAuthorities: 'ca.pem' }],
    [`originAuthorities: ${quotes}`, { originAuthorities: '/a\nb' }],
    ...[
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/+8',
      '10.0.0.0/0x8',
      '10.0.0',
      '',
      'fe80::1%eth0/64',
    ].map((text): [string, Partial<ConfigSettings>] => [
      `trustedProxies: ${cidr(text)}`,
      { trustedProxies: ['::1', text] },
    ]),
    [
      'proxyProtocol: needs trustedProxies: whoever may send a PROXY header chooses its address',
      { proxyProtocol: true },
    ],
    [`threads: ${whole(1, 64)}`, { threads: 65 }],
    [`threads: ${whole(1, 64)}`, { threads: 0 }],
    [`maxConnections: ${whole(10, 10_000_000)}`, { maxConnections: 9 }],
    [`maxConnections: ${whole(10, 10_000_000)}`, { maxConnections: 10_000_001 }],
    [`rateLimit: ${whole(1, 86_400)}`, { rateLimit: { windowSec: 86_401 } }],
    [`rateLimit: ${whole(1, 86_400)}`, { rateLimit: { windowSec: 0.5 } }],
    [`bufferBytes: ${whole(16_384, 1_048_576)}`, { bufferBytes: 16_383 }],
    [`bufferBytes: ${whole(16_384, 1_048_576)}`, { bufferBytes: 1_048_577 }],
    [`guard: ${whole(1, 60_000)}`, { guard: { ...guard, timeoutMs: 0 } }],
    ['guard: no workers', { guard: { ...guard, agents: [] } }],
    ['guard: no workers', { guard: { ...guard, relays: [] } }],
    [`guard: ${absolute}`, { guard: { ...guard, agents: ['/a', 'a'] } }],
    [`guard: ${absolute}`, { guard: { ...guard, relays: ['r'] } }],
    [`guard: ${absolute}`, { guard: { ...guard, spoeFile: 's' } }],
    [`guard: ${list}`, { guard: { ...guard, returnSocket: '/a,b' } }],
    [`confinement: ${account}`, { confinement: { ...confinement, user: 'Root' } }],
    [`confinement: ${account}`, { confinement: { ...confinement, user: '0' } }],
    [`confinement: ${account}`, { confinement: { ...confinement, group: 'a\nuser root' } }],
    [`confinement: ${account}`, { confinement: { ...confinement, group: `_${'a'.repeat(32)}` } }],
    [`confinement: ${absolute}`, { confinement: { ...confinement, directory: '.' } }],
  ])('%s', (reason, parts) => {
    expect(refusal(parts)).toBe(reason);
  });
});

test('what is not said is safe: nobody else is believed, and origins are checked against the machine’s authorities', () => {
  expect(defaultSettings).toEqual({
    ...{ publicHttpsPort: 443, trustedProxies: [], proxyProtocol: false, threads: null, maxConnections: null },
    ...{ log: { to: 'stdout' }, eventSocket: null, trafficSocket: null, apiSocket: null, rateLimit: null },
    ...{ originAuthorities: '/etc/ssl/certs/ca-certificates.crt', guard: null, confinement: null, bufferBytes: 16_384 },
  });
});
