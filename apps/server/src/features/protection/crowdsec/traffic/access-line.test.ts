import { expect, test } from 'vitest';
import type { ProxyLine } from '../../logs/proxy-line.ts';
import { toAccessLine } from './access-line.ts';

const given = (changes: Partial<ProxyLine> = {}): ProxyLine => ({
  time: '2026-11-02T04:09:08.123Z',
  client: '203.0.113.7',
  reference: 'abc',
  status: 404,
  refused: '-',
  host: 'Shop.Example.org',
  host_id: '7',
  method: 'GET',
  user_agent: 'Mozilla/5.0',
  uri: '/missing.php?id=1',
  ...changes,
});

/** What CrowdSec's parser of nginx takes out of a line (s01-parse/crowdsecurity/nginx-logs.yaml, in our words). */
const parsed = (line: string | undefined) =>
  /(?:(?<fqdn>[a-z0-9][a-z0-9.-]*) )?(?<client>[0-9a-f.:]+) - - \[(?<time>[^\]]+)\] "(?<verb>\w+) (?<request>.*?) HTTP\/[\d.]+" (?<status>\d+) \d+ "(?<referer>[^"]*)" "(?<agent>[^"]*)"/.exec(
    line ?? '',
  )?.groups;

test('a request is written as nginx writes it, with the host before it', () => {
  expect(toAccessLine(given())).toBe(
    'shop.example.org 203.0.113.7 - - [02/Nov/2026:04:09:08 +0000] "GET /missing.php?id=1 HTTP/1.1" 404 0 "-" "Mozilla/5.0"',
  );
  expect(toAccessLine(given({ client: '2001:db8::1', user_agent: '', status: -1 }))).toMatch(
    /^shop\.example\.org 2001:db8::1 - - .* 499 0 "-" "-"$/,
  );
});

test.each([
  ['a quote and a line end in the agent', { user_agent: 'x" 200 0 "-" "y\n198.51.100.1 - - [' }],
  [
    'a whole line in the agent',
    { user_agent: '198.51.100.1 - - [02/Nov/2026:04:09:08 +0000] "GET / HTTP/1.1" 404 0 "-" "x"' },
  ],
  ['a quote in the target', { uri: '/a" 200 0 "-" "y" HTTP/1.1' }],
  ['a line end in the target', { uri: '/a\r\n198.51.100.1 - - [x] "GET /' }],
  ['an address as host', { host: '198.51.100.1' }],
  ['an address and more as host', { host: '198.51.100.1 - - [x] "get / http/1.1" 404 0 "-" "x"' }],
  ['a method that is no word', { method: 'GET"-x ' }],
])('%s changes no other field and makes no other line', (_what, changes) => {
  const line = toAccessLine(given(changes));
  expect(line).not.toMatch(/[\r\n]/);
  expect(line?.split('"')).toHaveLength(7);
  expect(parsed(line)).toMatchObject({ client: '203.0.113.7', status: '404', time: '02/Nov/2026:04:09:08 +0000' });
});

test('the target is one word, without scheme, host and what is secret in it', () => {
  const target = (uri: string) => parsed(toAccessLine(given({ uri })))?.request;
  expect(target('https://shop.example.org/a?b=c')).toBe('/a?b=c');
  expect(target('https://shop.example.org')).toBe('/');
  expect(target('/a b"cä\u2028')).toBe('/a%20b%22c%C3%A4%E2%80%A8');
  expect(target('/login?password=hunter2')).toBe('/login?password=***');
  expect(target('*')).toBe('/*');
  expect(target(`/${'ä'.repeat(4_000)}`)).toHaveLength(4_096);
});

test('names that nobody serves are left out, so that whoever tries many is seen as one', () => {
  expect(parsed(toAccessLine(given({ host_id: '', host: 'a.test' })))?.fqdn).toBeUndefined();
  expect(parsed(toAccessLine(given({ host: '_x.test' })))).toMatchObject({ client: '203.0.113.7' });
});

test('no name is longer than names are', () => {
  const line = toAccessLine(given({ host: `${'a'.repeat(300)}.test` }));
  expect(line?.indexOf(' ')).toBe(253);
  expect(parsed(line)).toMatchObject({ client: '203.0.113.7' });
});

test.each([
  ['whom a decision bans already', { refused: 'decision', status: 403 }],
  ['what the proxy could not tell', { refused: 'unknown', status: 503 }],
  ['what never became a request', { method: '-' }],
  ['a client without an address', { client: 'unix:1' }],
])('%s is not written', (_what, changes) => {
  expect(toAccessLine(given(changes))).toBeUndefined();
});

test.each(['rate_limit', 'exploit', 'guard', 'websocket'])('what was refused for %s is', (refused) => {
  expect(toAccessLine(given({ refused, status: 403 }))).toContain('" 403 0 ');
});
