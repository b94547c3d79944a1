import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatNetwork, InvalidNetwork, parseNetwork } from './network.ts';
import { createNetworkSet, overlaps } from './network-set.ts';

const canonical = (text: string) => formatNetwork(parseNetwork(text));
const ipv4 = fc.ipV4();
const ipv6 = fc.ipV6().filter((text) => isIP(text) === 6);
const cidr = fc.oneof(
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([address, prefix]) => `${address}/${prefix}`),
  fc.tuple(ipv6, fc.integer({ min: 96, max: 128 })).map(([address, prefix]) => `${address}/${prefix}`),
);

describe('networks', () => {
  test.each([
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/32', '10.1.2.3'],
    [' 10.0.0.0/8 ', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::1/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::1/128', '::1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1/104', '10.0.0.0/8'],
  ])('writes %s as %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '10.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '010.0.0.1',
    '0x7f.1',
    'a',
    'fe80::1%eth0',
    '1.2.3.4/+8',
    '::ffff:1.2.3.4/95',
    '1.2.3.4 5',
  ])('refuses %j', (text) => {
    expect(() => parseNetwork(text)).toThrow(InvalidNetwork);
  });

  test('never takes a text for something else: what it accepts is stable, what it refuses is an InvalidNetwork', () => {
    fc.assert(
      fc.property(fc.oneof(cidr, fc.string(), ipv4, ipv6), (text) => {
        try {
          const once = canonical(text);
          expect(canonical(once)).toBe(once);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidNetwork);
        }
      }),
    );
  });

  test('a network holds its own addresses, and a set answers like asking each network', () => {
    const inside = (text: string, address: string) => overlaps(parseNetwork(text), parseNetwork(address));
    fc.assert(
      fc.property(
        fc.array(cidr, { maxLength: 30 }),
        fc.array(fc.oneof(ipv4, ipv6), { minLength: 1, maxLength: 20 }),
        (texts, addresses) => {
          const set = createNetworkSet(texts.map(parseNetwork));
          for (const text of texts) expect(set.has(text.split('/')[0] as string)).toBe(true);
          for (const address of addresses) {
            expect(set.has(address)).toBe(texts.some((text) => inside(text, address)));
          }
        },
      ),
    );
  });
});
