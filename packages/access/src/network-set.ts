import { isIP } from 'node:net';
import { type Network, parseNetwork } from './network.ts';

/** Tells whether two networks have an address in common. */
export const overlaps = (a: Network, b: Network): boolean =>
  a.family === b.family && a.first <= b.last && b.first <= a.last;

/** Networks that can be asked for an address in logarithmic time. */
export interface NetworkSet {
  /** Takes an address in any form that Node's `isIP` knows; anything else is in no network. */
  has(address: string): boolean;
}

interface Ranges {
  first: bigint[];
  last: bigint[];
}

/** Sorts and merges, so that a look-up has to compare with one range only. */
const merge = (networks: readonly Network[]): Ranges => {
  const sorted = networks.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const ranges: Ranges = { first: [], last: [] };
  for (const { first, last } of sorted) {
    const end = ranges.last.length - 1;
    const before = ranges.last[end];
    if (before !== undefined && first <= before + 1n) {
      if (last > before) ranges.last[end] = last;
    } else {
      ranges.first.push(first);
      ranges.last.push(last);
    }
  }
  return ranges;
};

const contains = ({ first, last }: Ranges, address: bigint): boolean => {
  let low = 0;
  let high = first.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((first[middle] as bigint) <= address) low = middle + 1;
    else high = middle;
  }
  return low > 0 && address <= (last[low - 1] as bigint);
};

/** Makes a set of any number of networks. */
export const createNetworkSet = (networks: readonly Network[]): NetworkSet => {
  const ofFamily = (family: Network['family']) => merge(networks.filter((network) => network.family === family));
  const ranges = { ipv4: ofFamily('ipv4'), ipv6: ofFamily('ipv6') };
  return {
    has(address) {
      const bare = address.replace(/%.*$/, '');
      if (isIP(bare) === 0) return false;
      const { family, first } = parseNetwork(bare);
      return contains(ranges[family], first);
    },
  };
};
