import { expect, test } from 'vitest';
import { parseOldAddress } from './old-address.ts';

test.each([
  ['192.0.2.1', { host: '192.0.2.1', http: 80, https: 443 }],
  ['old.lan', { host: 'old.lan', http: 80, https: 443 }],
  ['[2001:db8::1]', { host: '2001:db8::1', http: 80, https: 443 }],
  ['old.lan:8080', { host: 'old.lan', http: 8080, https: undefined }],
  ['old.lan:65535', { host: 'old.lan', http: 65_535, https: undefined }],
  ['old.lan:1', { host: 'old.lan', http: 1, https: undefined }],
  ['old.lan:443', { host: 'old.lan', http: undefined, https: 443 }],
  ['[::1]:8443', { host: '::1', http: undefined, https: 8443 }],
  ['http://old.lan', { host: 'old.lan', http: 80, https: undefined }],
  ['HTTPS://old.lan:9000/', { host: 'old.lan', http: undefined, https: 9000 }],
])('reads %s', (text, address) => {
  expect(parseOldAddress(text)).toEqual(address);
});

test.each([
  '',
  ':80',
  'ftp://old.lan',
  'old.lan:0',
  'old.lan:65536',
  'old.lan/path',
  'http://user@old.lan',
  '2001:db8::1',
  '[old.lan]:80',
  'a b',
  'http://',
])('refuses "%s"', (text) => {
  expect(parseOldAddress(text)).toBeUndefined();
});
