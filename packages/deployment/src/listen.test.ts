import { expect, test } from 'vitest';
import { formatAddress, isOnEveryAddress, localAddress, parseListen } from './listen.ts';

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['[2001:db8::1]:1', { host: '2001:db8::1', port: 1 }],
  ['localhost:65535', { host: 'localhost', port: 65_535 }],
  [':80', { host: '', port: 80 }],
])('reads %s', (text, listen) => {
  expect(parseListen(text)).toEqual(listen);
});

test.each(['80', ':', 'x:http', ':0', ':65536', ':100000', '2001:db8::1:80', '[x]:80', '[::1]', ' x[::1]:80', ':80 '])(
  'refuses "%s"',
  (text) => {
    expect(() => parseListen(text)).toThrow(/^must /);
  },
);

test('tells how a client on this machine gets there', () => {
  for (const host of ['', '0.0.0.0', '::']) {
    expect(isOnEveryAddress({ host })).toBe(true);
    expect(localAddress({ host, port: 8080 })).toBe('127.0.0.1:8080');
  }
  expect(isOnEveryAddress({ host: '127.0.0.1' })).toBe(false);
  expect(localAddress({ host: '192.0.2.1', port: 80 })).toBe('192.0.2.1:80');
  expect(formatAddress('2001:db8::1', 443)).toBe('[2001:db8::1]:443');
});
