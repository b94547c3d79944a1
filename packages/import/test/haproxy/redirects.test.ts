import { expect, test } from 'vitest';
import { readHaproxy } from '../../src/index.ts';

const CONFIGURATION = `defaults
 mode http
frontend web
 bind :80
 acl is_old hdr(host) -i old.test older.test
 http-request redirect location https://new.test/ code 308 if is_old
 redirect prefix https://moved.test if { hdr(host) -i moving.test } { path_beg /part }
 http-request redirect location /new code 301 if { path /gone }
 use_backend app if { hdr(host) -i a.test }
 use_backend app if { hdr(host) -i moving.test }
 use_backend away if { hdr(host) -i away.test }
backend app
 server one 10.0.0.1:80
backend away
 redirect prefix https://a.test code 307
frontend all
 bind :81
 redirect location https://else.test/ code 301
`;

test('each redirect is told with its place, its source, where it leads and with which code', () => {
  const { hosts, warnings, errors } = readHaproxy([{ name: 'haproxy.cfg', content: CONFIGURATION }]);
  expect(errors).toEqual([]);
  const told = (list: readonly { line: number; message: string }[]) =>
    list.filter(({ message }) => message.includes('redirect')).map(({ line, message }) => `${line} ${message}`);
  expect(told(warnings)).toEqual([
    '6 old.test, older.test is not imported: it only redirects to https://new.test/ (308), and a proxy host needs an upstream',
    '18 requests to frontend all for any other name are redirected to https://else.test/ (301) in HAProxy; a proxy host needs a name',
    '11 away.test is not imported: it only redirects to https://a.test with the same path (307), and a proxy host needs an upstream',
  ]);
  const gone = '8 requests that match path /gone are redirected to /new (301) in HAProxy; here they go to the upstream';
  const part =
    '7 requests that match path_beg /part are redirected to https://moved.test with the same path (302) in HAProxy; here they go to the upstream';
  expect(hosts.map(({ domain, enabled, warnings }) => [domain, enabled, told(warnings)])).toEqual([
    ['a.test', undefined, [gone]],
    ['moving.test', undefined, [part, gone]],
  ]);
});

/** What is told of a.test behind a frontend with these lines. */
const toldOf = (...lines: string[]) => {
  const site = [' bind :80', ...lines.map((line) => ` ${line}`), ' use_backend app if { hdr(host) -i a.test }'];
  const content = [
    'defaults',
    ' mode http',
    'frontend web',
    ...site,
    'backend app',
    ' server one 10.0.0.1:80',
    '',
  ].join('\n');
  const { hosts } = readHaproxy([{ name: 'haproxy.cfg', content }]);
  return { enabled: hosts[0]?.enabled, messages: hosts[0]?.warnings.map(({ message }) => message) ?? [] };
};

test('another scheme is told with its code, and what only says redirect is none', () => {
  expect(toldOf('redirect scheme ftp code 307 if { path /f }').messages).toContain(
    'requests that match path /f are redirected to ftp:// (307) in HAProxy; here they go to the upstream',
  );
  const { messages } = toldOf('http-request set-header X-How redirect', 'http-request redirect scheme https');
  expect(messages.join()).not.toContain('are redirected to');
});

test('of many redirects those of visitors are told first, so that they switch the host off', () => {
  const paths = Array.from({ length: 101 }, (_, index) => `redirect location /new if { path /${index} }`);
  expect(toldOf(...paths).enabled).toBeUndefined();
  expect(toldOf(...paths, 'redirect location /sso unless { req.cook(session) -m found }').enabled).toBe(false);
});
