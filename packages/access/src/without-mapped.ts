import type { Network } from './network.ts';

/** ::ffff:0:0/96, where IPv6 holds every IPv4 address (RFC 4291, section 2.5.5.2). */
const MAPPED = { first: 0xffff_0000_0000n, prefix: 96 } as const;
const WIDTH = 128;

const blockAt = (first: bigint, prefix: number): bigint => first >> BigInt(WIDTH - prefix);

/**
 * An IPv6 network without the IPv4-mapped addresses, as networks that together hold the rest of it; any other network
 * as it is. Whoever writes `::/0` means IPv6. HAProxy would look IPv4 addresses up in it as well.
 */
export const withoutMapped = (network: Network): Network[] => {
  const { family, first, prefix } = network;
  const holdsMapped =
    family === 'ipv6' && prefix < MAPPED.prefix && blockAt(first, prefix) === blockAt(MAPPED.first, prefix);
  if (!holdsMapped) return [network];
  // On the way down to the mapped addresses each step leaves the other half behind.
  return Array.from({ length: MAPPED.prefix - prefix }, (_, step) => {
    const length = prefix + step + 1;
    const size = 1n << BigInt(WIDTH - length);
    const start = (blockAt(MAPPED.first, length) ^ 1n) * size;
    return { family, first: start, last: start + size - 1n, prefix: length };
  });
};
