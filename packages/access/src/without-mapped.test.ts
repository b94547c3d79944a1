import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatNetwork, parseNetwork } from './network.ts';
import { createNetworkSet } from './network-set.ts';
import { withoutMapped } from './without-mapped.ts';

const MAPPED_FIRST = 0xffff_0000_0000n;
const MAPPED_LAST = 0xffff_ffff_ffffn;

describe('an IPv6 network without the IPv4-mapped addresses', () => {
  test.each(['10.0.0.0/8', '0.0.0.0/0', '2000::/3', '::1', '8000::/1', '::/97', '::ffff:1.2.3.0/120'])(
    'is %s itself when it holds none',
    (text) => {
      expect(withoutMapped(parseNetwork(text))).toEqual([parseNetwork(text)]);
    },
  );

  test('is written as networks that parse back', () => {
    const parts = withoutMapped(parseNetwork('::/0'));
    expect(parts.map(formatNetwork).slice(0, 3)).toEqual(['8000::/1', '4000::/2', '2000::/3']);
    expect(parts.map(formatNetwork).map(parseNetwork)).toEqual(parts);
  });

  test('holds everything else, each address once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 95 }), (prefix) => {
        const whole = parseNetwork(formatNetwork({ family: 'ipv6', first: 0n, last: 0n, prefix }));
        const parts = withoutMapped(whole);
        const mapped = whole.last >= MAPPED_LAST ? MAPPED_LAST - MAPPED_FIRST + 1n : 0n;
        const size = (networks: { first: bigint; last: bigint }[]) =>
          networks.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
        expect(size(parts)).toBe(size([whole]) - mapped);
        for (const { first, last } of parts) expect(last < MAPPED_FIRST || first > MAPPED_LAST).toBe(true);
      }),
    );
    const set = createNetworkSet(withoutMapped(parseNetwork('::/0')));
    for (const address of ['::1', '2001:db8::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']) {
      expect(set.has(address)).toBe(true);
    }
    for (const address of ['0.0.0.0', '127.0.0.1', '255.255.255.255']) expect(set.has(address)).toBe(false);
  });
});
