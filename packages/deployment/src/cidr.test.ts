import { expect, test } from 'vitest';
import { Cidr, cidrSet } from './cidr.ts';

test.each([
  ['192.0.2.7', '192.0.2.7/32', 'ipv4'],
  ['192.0.2.7/24', '192.0.2.0/24', 'ipv4'],
  ['192.0.2.7/32', '192.0.2.7/32', 'ipv4'],
  ['0.0.0.0/0', '0.0.0.0/0', 'ipv4'],
  [' 10.1.2.3/8 ', '10.0.0.0/8', 'ipv4'],
  ['2001:DB8:0:0::7', '2001:db8::7/128', 'ipv6'],
  ['2001:db8::7/128', '2001:db8::7/128', 'ipv6'],
  ['2001:db8:ff::7/32', '2001:db8::/32', 'ipv6'],
  ['::/0', '::/0', 'ipv6'],
  ['fe80::1%eth0', 'fe80::1/128', 'ipv6'],
  ['::ffff:192.0.2.7', '192.0.2.7/32', 'ipv4'],
  ['::ffff:192.0.2.7/120', '192.0.2.0/24', 'ipv4'],
  ['::ffff:0:0/96', '0.0.0.0/0', 'ipv4'],
])('reads %s as %s', (text, canonical, family) => {
  const cidr = Cidr.parse(text);
  expect(`${cidr}`).toBe(canonical);
  expect(cidr.family).toBe(family);
});

test.each([
  '',
  'example.com',
  '010.1.1.1',
  '10.1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.0/ 8',
  '10.0.0.0/8x',
  '10.0.0.0/x8',
  '10.0.0.0/0008',
  '10.0.0.0/-1',
  '10.0.0.0/33',
  '2001:db8::/129',
  '::ffff:10.0.0.0/95',
])('refuses "%s", and says which text it was', (text) => {
  expect(() => Cidr.parse(text)).toThrow(`"${text}"`);
});

test('tells whether an address, in any form, is in one of the networks', () => {
  const isInside = cidrSet(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'].map(Cidr.parse));
  const answers = (addresses: string[]) => addresses.map((address) => isInside(address));
  expect(answers(['10.255.0.1', '192.0.2.7', '2001:db8::1', '::ffff:10.0.0.1'])).toEqual([true, true, true, true]);
  expect(answers(['11.0.0.0', '192.0.2.8', '2001:db9::1', '::ffff:11.0.0.1'])).toEqual([false, false, false, false]);
  expect(answers(['', 'localhost', '10.0.0', '10.0.0.1:80'])).toEqual([false, false, false, false]);
  expect(cidrSet([])('127.0.0.1')).toBe(false);
});
