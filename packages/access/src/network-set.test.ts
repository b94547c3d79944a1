import { expect, test } from 'vitest';
import { parseNetwork } from './network.ts';
import { createNetworkSet, overlaps } from './network-set.ts';

const setOf = (...networks: string[]) => createNetworkSet(networks.map(parseNetwork));

test.each([
  ['192.0.2.0/24', '192.0.2.0/24', true],
  ['192.0.2.0/24', '192.0.2.0', true],
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.0/24', '192.0.1.255', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['::/0', '2001:db8::1', true],
  ['::/0', '192.0.2.1', false],
])('%s and %s have an address in common: %s', (one, other, common) => {
  const [a, b] = [parseNetwork(one), parseNetwork(other)];
  expect([overlaps(a, b), overlaps(b, a)]).toEqual([common, common]);
});

test.each([
  ['192.0.2.0', true],
  ['192.0.2.255', true],
  ['192.0.1.255', false],
  ['192.0.3.0', false],
  ['::ffff:192.0.2.1', true],
  ['fe80::1%eth0', true],
  ['fe80::1', true],
  ['fe80::2', false],
])('a set knows that %s is in it: %s', (address, isIn) => {
  expect(setOf('192.0.2.0/24', 'fe80::1').has(address)).toBe(isIn);
});

test.each(['', 'example.com', '192.0.2', '192.0.2.1/32', ' 192.0.2.1', '192.0.2.1 ', '192.0.2.256'])(
  'what is no address (%j) is in no set',
  (text) => {
    expect(setOf('0.0.0.0/0', '::/0').has(text)).toBe(false);
  },
);

test('networks that overlap, touch or hold one another are one set, in whatever order they come', () => {
  const networks = ['10.0.0.0/9', '10.128.0.0/9', '10.1.0.0/16', '192.0.2.4/30', '192.0.2.0/30', '198.51.100.7'];
  for (const order of [networks, networks.toReversed()]) {
    const set = setOf(...order);
    const addresses = [
      '10.0.0.0',
      '10.1.2.3',
      '10.127.255.255',
      '10.200.0.1',
      '192.0.2.3',
      '192.0.2.4',
      '198.51.100.7',
    ];
    expect(addresses.map((address) => set.has(address))).toEqual(addresses.map(() => true));
    const outside = ['9.255.255.255', '11.0.0.0', '192.0.2.8', '198.51.100.6', '198.51.100.8'];
    expect(outside.map((address) => set.has(address))).toEqual(outside.map(() => false));
  }
});

test('an empty set holds nothing', () => {
  expect(['0.0.0.0', '::', '192.0.2.1'].map((address) => setOf().has(address))).toEqual([false, false, false]);
});
