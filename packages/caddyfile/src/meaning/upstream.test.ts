import { expect, test } from 'vitest';
import type { Token } from '../text/token.ts';
import { parseAddress } from './address.ts';
import { parseUpstream } from './upstream.ts';

const token = (text: string): Token => {
  return { text, quote: '', file: 'f', line: 1, column: 1, row: 1, endRow: 1, chain: 0 };
};

test.each<[string, Partial<ReturnType<typeof parseUpstream>>]>([
  ['backend', { scheme: '', host: 'backend', ports: { first: 80, last: 80 } }],
  [':9000', { host: '', ports: { first: 9000, last: 9000 } }],
  ['https://backend', { scheme: 'https', ports: { first: 443, last: 443 } }],
  ['h2c://backend', { scheme: 'h2c', ports: { first: 80, last: 80 } }],
  ['backend:8080-8083', { ports: { first: 8080, last: 8083 } }],
  ['http://backend:8080-8083', { scheme: 'http', ports: { first: 8080, last: 8083 } }],
  ['[2001:db8::1]:1', { host: '2001:db8::1', ports: { first: 1, last: 1 } }],
  ['unix//run/a.sock', { network: 'unix', host: '/run/a.sock', ports: undefined }],
  ['unix+h2c//run/a.sock', { network: 'unix', scheme: 'h2c' }],
  ['{http.request.host}:80', { isDynamic: true }],
])('the upstream %s', (text, expected) => {
  expect(parseUpstream(token(text))).toMatchObject(expected);
});

test.each([
  ...['http://b:443', 'https://b:80', 'h2c://b:443', 'ftp://b', 'ws://b', 'http://b/x', 'http://b?x', 'http://b#x'],
  ...['b:x', 'b:70000', 'b:2-1', 'https://{host}', '{$UNKNOWN}:80'],
])('the upstream %s is refused', (text) => {
  expect(() => parseUpstream(token(text))).toThrow(expect.objectContaining({ name: 'CaddyfileError', text }));
});

test.each<[string, Partial<ReturnType<typeof parseAddress>>]>([
  ['A.Test', { scheme: undefined, host: 'a.test', port: undefined, path: '' }],
  ['HTTPS://a.test:8443/x/*', { scheme: 'https', host: 'a.test', port: 8443, path: '/x/*' }],
  [':80', { host: '', port: 80 }],
  ['[2001:DB8::0:1]:80', { host: '2001:db8::1', port: 80 }],
  ['{Env.Host}.A.test', { host: '{Env.Host}.a.test' }],
])('the address %s', (text, expected) => {
  expect(parseAddress(token(text))).toMatchObject(expected);
});

test.each(['ftp://a', 'ws://a', 'a:x', 'a:70000', 'a:123456', '{$UNKNOWN}'])('the address %s is refused', (text) => {
  expect(() => parseAddress(token(text))).toThrow(expect.objectContaining({ name: 'CaddyfileError', text }));
});
