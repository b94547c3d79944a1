import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFiles, readHaproxy } from '../../src/index.ts';
import { mutations } from '../mutations.ts';

const CONFIGURATION = `global
    maxconn 100
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend web
    bind :8088
    acl is_a hdr(host) -i A.test www.a.test # two names
    acl is_api path_beg /api
    acl is_c req.hdr(host),lower -m str c.test
    use_backend api if is_a is_api
    use_backend "app" if is_a
    use_backend nas if { hdr(host) -i b.test } || is_c
    use_backend api if { hdr(host) -i part.test } !{ src 10.0.0.0/8 }
    use_backend closed if { hdr(host) -i closed.test }
    use_backend api if { hdr_end(host) -i .d.test }
    default_backend app
backend app
    balance roundrobin
    option httpchk
    server one 10.0.0.1:8080 check backup
    server two 10.0.0.2:8081 check
backend api
    server one 10.0.0.3:80
backend nas
    server one 10.0.0.4:443 ssl verify none alpn h2
backend closed
    http-request deny unless { src 10.0.0.0/8 }
    server one 10.0.0.5:80
`;

const SECURE = `defaults
  mode http
frontend plain
  bind :80
  http-request redirect scheme https code 301 unless { ssl_fc }
frontend secure
  bind :443 ssl crt /etc/haproxy/certs/
  use_backend app if { req.hdr(host) -i a.test }
backend app
  server one app.lan:8443 ssl verify required ca-file ca.pem
`;

const read = (content: string) => readFiles([{ name: 'haproxy.cfg', content }]);

test('what HAProxy accepts is read as hosts, and what they can not say is told', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, CONFIGURATION);
  execFileSync(process.env.HAPROXY ?? '/usr/sbin/haproxy', ['-c', '-q', '-f', file]);
  rmSync(directory, { recursive: true });
  const { source, hosts, warnings, errors } = read(CONFIGURATION);
  expect({ source, errors }).toEqual({ source: 'haproxy', errors: [] });
  const app = { forward_scheme: 'http', forward_host: '10.0.0.2', forward_port: 8081, websocket_support: true };
  const nas = { forward_scheme: 'https', forward_host: '10.0.0.4', forward_port: 443, forward_http2: true };
  expect(hosts).toMatchObject([
    { domain: 'a.test', line: 14, ...app, ssl_forced: false },
    { domain: 'www.a.test', ...app },
    { domain: 'b.test', ...nas, forward_verify_tls: false },
    { domain: 'c.test', ...nas },
    { domain: 'part.test', forward_host: '10.0.0.3', enabled: false },
    { domain: 'closed.test', forward_host: '10.0.0.5', enabled: false },
  ]);
  expect(hosts.slice(0, 4).map(({ enabled }) => enabled)).toEqual([undefined, undefined, undefined, undefined]);
  const messages = hosts[0]!.warnings.map(({ message }) => message).join('\n');
  for (const piece of [
    'does not check the health',
    'port 8088',
    '10.0.0.1:8080 is left out',
    'balance',
    'httpchk',
    'some requests go to api',
  ]) {
    expect.soft(messages).toContain(piece);
  }
  const told = warnings.map(({ message, line }) => `${line} ${message}`).join('\n');
  expect(told).toMatch(/^18 .*is not imported: it asks for no name/m);
  expect(told).toMatch(/^19 .*any other name go to app/m);
});

test('a redirect to https, and a server whose certificate is checked', () => {
  const expected = { domain: 'a.test', forward_scheme: 'https', forward_host: 'app.lan', forward_verify_tls: true };
  expect(read(SECURE).hosts).toMatchObject([{ ...expected, ssl_forced: true }]);
});

/** One frontend for a.test with these binds and lines. */
const behind = (binds: readonly string[], lines: readonly string[] = []) =>
  [
    ...[
      'defaults',
      ' mode http',
      'frontend web',
      ...binds.map((bind) => ` bind ${bind}`),
      ...lines.map((line) => ` ${line}`),
    ],
    ...[' use_backend app if { hdr(host) -i a.test }', 'backend app', ' server one 10.0.0.1:80', ''],
  ].join('\n');

test('TLS is forced where nobody is answered without it', () => {
  const toHttps = 'http-request redirect scheme https unless { ssl_fc }';
  const isForced = (content: string) => read(content).hosts.map(({ ssl_forced }) => ssl_forced);
  expect(isForced(behind([':443 ssl crt x.pem']))).toEqual([true]);
  expect(isForced(behind([':80', ':443 ssl crt x.pem']))).toEqual([false]);
  expect(isForced(behind([':80', ':443 ssl crt x.pem'], [toHttps]))).toEqual([true]);
  expect(isForced(behind([':80'], [toHttps]))).toEqual([false]);
  // Asked for without TLS in a frontend of its own, which leads to TLS or does not.
  const plain = (line: string) =>
    behind([':443 ssl crt x.pem']).replace(
      'backend app',
      `frontend plain\n bind :80\n ${line}\n use_backend app if { hdr(host) -i a.test }\nbackend app`,
    );
  expect(isForced(plain(toHttps))).toEqual([true]);
  expect(isForced(plain('timeout client 1s'))).toEqual([false]);
});

test('what is no header of the request is no name, and a bind that is cut off is read', () => {
  const { hosts, warnings } = read(behind([':80'], ['use_backend app if { shdr(host) -i other.test }']));
  expect(hosts.map(({ domain }) => domain)).toEqual(['a.test']);
  expect(warnings.map(({ message }) => message).join()).toContain('it asks for no name');
  expect(read(behind([':443 ssl crt'])).hosts).toHaveLength(1);
});

test('a configuration that ends without a line feed is read to its end, and none at all is an error', () => {
  expect(read(behind([':80']).trimEnd()).hosts).toMatchObject([{ domain: 'a.test', forward_port: 80 }]);
  const message = 'no frontend chooses a backend by a name';
  expect(readHaproxy([{ name: 'x.cfg', content: '' }]).errors).toEqual([
    { file: 'x.cfg', line: 1, column: 1, message, text: '' },
  ]);
  expect(readHaproxy([{ name: 'x.cfg', content: '\nglobal\n maxconn 1\n' }]).errors).toMatchObject([
    { line: 2, message, text: 'global' },
  ]);
});

test.each([
  ['a quote that is never closed', 'frontend a\n"x\n', 2],
  ['a line in no section', 'bind :80\n', 1],
  ['a section without a name', 'defaults\nbackend\n', 2],
  ['10 MB in one line', `frontend a\n${'x'.repeat(10 * 2 ** 20)}`, 2],
  ['10 MB of lines', `frontend a\n${'x\n'.repeat(5 * 2 ** 20)}`, 500_001],
  ['10 MB of braces', `frontend a\n  use_backend b if ${'{ '.repeat(5 * 2 ** 20)}`, 2],
])('%s: an error with its place', (_, content, line) => {
  const { hosts, errors } = readHaproxy([{ name: 'haproxy.cfg', content }]);
  expect(hosts).toEqual([]);
  expect(errors).toMatchObject([{ file: 'haproxy.cfg', line, column: 1 }]);
  expect(errors[0]!.text?.length ?? 0).toBeLessThanOrEqual(200);
});

test('10,000 names are read', () => {
  const rules = Array.from({ length: 10_000 }, (_, index) => `  use_backend b if { hdr(host) -i h${index}.test }\n`);
  const content = `defaults\n  mode http\nfrontend a\n  bind :80\n${rules.join('')}backend b\n  server one 10.0.0.1:80\n`;
  expect(read(content).hosts).toHaveLength(10_000);
});

test('whatever is changed in a configuration, there is a reading', () => {
  for (const content of mutations([CONFIGURATION, SECURE], 300)) {
    const { hosts, errors } = readHaproxy([{ name: 'haproxy.cfg', content }]);
    for (const { line, message } of errors) expect.soft(line > 0 && message !== '', content).toBe(true);
    for (const { domain, forward_host } of hosts) expect.soft(domain !== '' && forward_host !== '', content).toBe(true);
  }
});
