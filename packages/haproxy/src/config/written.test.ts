import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { expectOrder, guardless, readBy, section, settings } from '../../test/support/written-config.ts';
import { writeStaticFiles } from '../files/static-files.ts';
import { routeFlags } from '../routes/flags.ts';
import { everybodyCleared, judgedFlags, limitKey, switchKeys } from './enforced.ts';
import { ownAnswers, renderPageFragments } from './error-pages.ts';
import { dataPlaneFiles } from './layout.ts';
import type { ConfigSettings } from './settings.ts';

// What is written for a HAProxy that root starts, or that other proxies stand before, and for who means harm: beside what tests with
// HAProxy see at work.

describe('a HAProxy that root starts', () => {
  const confinement = { user: 'proxy-user', group: 'proxy-group', directory: '/run/confined' };
  const confined = {
    ...guardless,
    confinement,
    apiSocket: '/run/confined/api.sock',
    eventSocket: '/run/confined/log.sock',
    trafficSocket: '/elsewhere/traffic.sock',
  };

  test('gives up its rights and the file system', () => {
    const lines = section(readBy('2.6', confined), 'global');
    expect(lines).toEqual(expect.arrayContaining(['user proxy-user', 'group proxy-group', 'chroot /run/confined']));
    expect(readBy('2.6', guardless).join('\n')).not.toMatch(/^(?:user|group|chroot) /m);
  });

  test('reaches by relative paths what lies in its directory, and lets nobody else into what is its own', () => {
    const lines = readBy('2.6', confined).filter((line) => /unix@/.test(line));
    expect(lines).toEqual([
      'server gate unix@gate.sock ssl verify none',
      `bind unix@/run/confined/gate.sock mode 660 group proxy-group ssl crt ${dataPlaneFiles.defaultCertificate}`,
      expect.stringMatching(/^server intake unix@log\.sock check /),
      'server traffic_gate unix@traffic_gate.sock ssl verify none',
      `bind unix@/run/confined/traffic_gate.sock mode 660 group proxy-group ssl crt ${dataPlaneFiles.defaultCertificate}`,
      expect.stringMatching(/^server intake unix@\/elsewhere\/traffic\.sock check /),
      'bind unix@peers.sock mode 660 group proxy-group',
      'bind unix@once-plain.sock mode 600 user proxy-user accept-proxy name once-plain',
      'bind unix@once-tls.sock mode 600 user proxy-user accept-proxy name once-tls',
      'server plain unix@once-plain.sock send-proxy-v2 pool-max-conn 0',
      'server tls unix@once-tls.sock send-proxy-v2 pool-max-conn 0',
      'server api unix@api.sock',
    ]);
    expect(section(readBy('2.6', confined), 'peers local')).toContain('server sallyport');
  });
});

describe('behind other proxies', () => {
  const list = dataPlaneFiles.trustedProxies;
  const trusted = { trustedProxies: ['192.0.2.0/24'], proxyProtocol: true };

  test('a hop counts only when every nearer one is trusted', () => {
    const lines = section(readBy('2.6', trusted), 'frontend proxy');
    expect(lines.filter((line) => line.includes('set-src'))).toEqual(
      [1, 2, 3, 4, 5].map((hop) => {
        const nearer = Array.from(
          { length: hop - 1 },
          (_, index) => ` { req.hdr(x-forwarded-for,-${index + 1}) -m ip -f ${list} }`,
        );
        return `http-request set-src req.hdr(x-forwarded-for,-${hop}) if from_trusted_proxy${nearer.join('')} { req.hdr(x-forwarded-for,-${hop}) -m ip 0.0.0.0/0 ::/0 }`;
      }),
    );
    expectOrder(lines, [
      `tcp-request connection expect-proxy layer4 if { src -f ${list} }`,
      'http-request set-var(txn.peer) src',
      `acl from_trusted_proxy var(txn.peer) -m ip -f ${list}`,
      'http-request set-src',
      'http-request set-var(txn.forwarded_proto) str(https) if from_trusted_proxy',
      'acl cleared',
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        'http-request set-header X-Real-IP %ci',
        'http-request add-header X-Forwarded-For %[var(txn.peer)] if from_trusted_proxy',
        'http-request set-header X-Forwarded-For %[var(txn.peer)] if !from_trusted_proxy',
        'http-request set-header X-Forwarded-Proto https if { var(txn.forwarded_proto) -m found }',
      ]),
    );
  });

  test('nobody leaves the rules with headers that were not looked at, nor is redirected who came by TLS', () => {
    const lines = readBy('2.6', trusted);
    expect(lines.join('\n')).not.toMatch(/untouched/);
    expect(lines.find((line) => line.startsWith('http-request redirect'))).toContain(
      ' !{ var(txn.forwarded_proto) -m str https }',
    );
    const direct = readBy('2.6').join('\n');
    expect(direct).not.toMatch(/expect-proxy|set-src|from_trusted_proxy|forwarded_proto/);
  });
});

test('plain HTTP is redirected to the port that clients reach, unless there is none', () => {
  const redirects = (publicHttpsPort: number | null) =>
    readBy('2.6', { publicHttpsPort }).filter((line) => line.startsWith('http-request redirect'));
  expect(redirects(443)).toEqual([
    `http-request redirect prefix https://%[var(txn.host)] code 308 if { var(txn.flags),and(${routeFlags.sslForced}) -m bool } !over_tls !{ path_beg /.well-known/acme-challenge/ }`,
  ]);
  expect(redirects(8443)[0]).toMatch(/^http-request redirect prefix https:\/\/%\[var\(txn\.host\)\]:8443 code 308 if /);
  expect(redirects(null)).toEqual([]);
});

test('nobody is counted where nobody is limited', () => {
  const lines = readBy('2.6').join('\n');
  expect(lines).not.toMatch(/stick-table|track-sc0|localpeer|peers|unlimited|deny_status 429/);
  const limited = readBy('2.6', guardless);
  expect(section(limited, 'backend requests')).toEqual([
    'stick-table type ipv6 size 200k expire 60s store http_req_rate(60s) peers local',
  ]);
  expect(section(limited, 'peers local')).toEqual(['peer sallyport unix@/run/proxy/peers.sock']);
  expect(limited).toContain('http-request track-sc0 src,ipmask(32,64) table requests if limited !bypasses_limit');
});

test('bans are asked again when a long body has arrived', () => {
  const guard = { agents: ['/a'], relays: ['/r'], spoeFile: '/s', returnSocket: '/b', timeoutMs: 1 };
  const asked = readBy('2.6', { guard }).filter((line) => /str\(unknown\) if !cleared !whitelisted$/.test(line));
  expect(asked).toHaveLength(2);
});

test('words that stand in maps, and flags in records, stay what they are: an older process reads them', () => {
  expect(switchKeys).toEqual({ unasked: 'unasked', failOpen: 'fail_open', policy: 'policy', remembered: 'remembered' });
  expect(judgedFlags).toBe(512 | 1024);
  expect(limitKey).toBe('requests');
  expect(everybodyCleared).toEqual([
    ['0.0.0.0/0', 'ok'],
    ['::/0', 'ok'],
  ]);
});

test('a request leaves the rules by what all flags say that any rule knows', () => {
  const lines = section(readBy('2.6', guardless), 'frontend proxy');
  const { tlsOrigin, http2Origin, ownApi, sslForced, blockExploits, standardHeaders, accessList, firewall } =
    routeFlags;
  const special = tlsOrigin | http2Origin | ownApi;
  const judged = accessList | firewall;
  const marked = 2 ** 30;
  const known = special | judged | marked | blockExploits | standardHeaders;
  expect(marked).toBeGreaterThan(Object.values(routeFlags).reduce((sum, bit) => sum + bit, 0));
  expect(lines).toEqual(
    expect.arrayContaining([
      `acl ordinary_host var(txn.flags),and(${known | sslForced}) -m int ${standardHeaders | blockExploits}`,
      `acl forces_tls var(txn.flags),and(${known}) -m int ${standardHeaders | blockExploits}`,
      `acl lenient_host var(txn.flags),and(${known}) -m int ${standardHeaders}`,
      `acl plain_host var(txn.flags),and(${sslForced | standardHeaders}) -m int ${standardHeaders}`,
      `acl special_origin var(txn.flags),and(${special}) -m bool`,
      `acl carries_marks var(txn.flags),and(${marked}) -m bool`,
      `use_backend origins if { var(txn.flags),and(${judged | special}) -m int 0 }`,
    ]),
  );
});

test('a line of the log has all that is read from it', () => {
  const format = section(readBy('2.6'), 'defaults').find((line) => line.startsWith('log-format ')) ?? '';
  const text = format.slice("log-format '".length, -1);
  // What HAProxy fills in, of which numbers stand bare.
  const line = text.replace(/:%(?:ST|Ta)/g, ':0').replace(/%\[[^"]*?\](?=["%.-])|%[a-z]+/g, 'x');
  expect(Object.keys(JSON.parse(line))).toEqual([
    'time',
    'client',
    'reference',
    'status',
    'termination',
    'failure',
    'tls',
    'refused',
    'answered',
    'host',
    'host_id',
    'method',
    'decision',
    'user_agent',
    'uri',
    'origin',
    'duration_ms',
  ]);
  // What a client chose can be nothing but a text.
  for (const chosen of [
    'var(txn.host)',
    'var(txn.agent)',
    'var(txn.request),field(1,:)',
    'var(txn.request),field(2,:,0)',
  ])
    expect(text).toContain(`"%[${chosen},json(utf8s)]"`);
});

test('each page has its title, its words and its end, in HTML and in JSON', () => {
  const fragments = new Map(
    renderPageFragments()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  const returned = [507, 508];
  const defaults = readBy('2.6').join('\n');
  expect([...ownAnswers.keys()]).toEqual([400, 403, 404, 405, 408, 413, 429, 502, 503, 504]);
  for (const [status, { title, message }] of ownAnswers) {
    expect(fragments.get(`html-${status}-open`)).toContain(`<title>${status} ${title}</title>`);
    expect(message).toMatch(/^[A-Z].*\.$/);
    expect(defaults).toContain(`%[var(txn.message,"${message}")]`);
  }
  for (const status of [...ownAnswers.keys(), ...returned]) {
    const page = (kind: string, words: string) =>
      ['open', 'reference', 'close']
        .map((part) => fragments.get(`${kind}-${status}-${part}`))
        .join('|')
        .replace('|', words)
        .replace('|', 'a-reference');
    expect(page('html', 'Why.')).toMatch(
      /^<!doctype html>.*<p>Why\.<\/p>.*Reference <code>a-reference<\/code>.*<\/html>$/,
    );
    expect(JSON.parse(page('json', 'Why.'))).toEqual({ error: 'Why.', code: status, reference: 'a-reference' });
  }
  // Numbers of HAProxy's manual, "fc_err".
  const tls = [...fragments.keys()].filter((key) => key.endsWith('-origin')).map((key) => Number.parseInt(key, 10));
  expect(tls).toEqual([...Array.from({ length: 15 }, (_, index) => 24 + index), 43]);
});

test.each<[string, Partial<ConfigSettings>]>([
  ['ordinary', {}],
  ['with all that is told and limited', { rateLimit: { windowSec: 60 } }],
  ['behind other proxies', { trustedProxies: ['192.0.2.0/24', '2001:db8::/32'], proxyProtocol: true }],
  ['without TLS', { https: [], publicHttpsPort: null }],
])('the HAProxy of this machine reads it: %s', (_what, parts) =>
  withTemporaryDirectory(async (directory) => {
    const socket = (name: string) => join(directory, `${name}.sock`);
    const sockets = { adminSocket: socket('admin'), apiSocket: socket('api'), eventSocket: socket('log') };
    await writeStaticFiles(directory, settings({ ...sockets, trafficSocket: socket('traffic'), ...parts }));
    const check = () =>
      execFileSync('/usr/sbin/haproxy', ['-c', '-f', join(directory, dataPlaneFiles.config)], { stdio: 'pipe' });
    // Later versions say nothing of a file that is valid.
    expect(check).not.toThrow();
  }),
);
