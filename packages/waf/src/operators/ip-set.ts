import { type AddressWords, parseAddress } from './ip-address.ts';
import { OperatorError, ruleBytes } from './operator.ts';

/** A set of addresses of both families, searched in logarithmic time. */
export interface IpSet {
  /** Whether buf[start, end) is the text of an address of the set; text that is no address is not. */
  has(buf: Uint8Array, start: number, end: number): boolean;
}

interface AddressRange {
  first: AddressWords;
  last: AddressWords;
}

const compare = (a: AddressWords, aAt: number, b: AddressWords, bAt: number): number => {
  for (let word = 0; word < 4; word++) {
    const difference = a[aAt + word]! - b[bAt + word]!;
    if (difference !== 0) return difference;
  }
  return 0;
};

const parseBlock = (text: string): { family: 4 | 6; range: AddressRange } => {
  const [address = '', prefix, ...rest] = text.split('/');
  const bytes = ruleBytes(address);
  const first = new Uint32Array(4);
  const family = parseAddress(bytes, 0, bytes.length, first);
  if (family === 0) throw new OperatorError(`"${text}" is not an IP address or CIDR block`);
  // A mapped block (::ffff:10.0.0.0/104) counts its prefix in 128 bits.
  const width = family === 4 && !address.includes(':') ? 32 : 128;
  if (prefix !== undefined && (rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > width)) {
    throw new OperatorError(`"${text}" has a prefix length that is not between 0 and ${width}`);
  }
  const bits = 128 - width + (prefix === undefined ? width : Number(prefix));
  if (family === 4 && bits < 96) throw new OperatorError(`"${text}" holds more than the IPv4-mapped addresses`);
  const last = new Uint32Array(4);
  for (let word = 0; word < 4; word++) {
    const kept = Math.min(32, Math.max(0, bits - word * 32));
    const mask = kept === 0 ? 0 : (0xffffffff << (32 - kept)) >>> 0;
    first[word] = first[word]! & mask;
    last[word] = first[word]! | (~mask >>> 0);
  }
  if (family === 4) last.fill(0, 0, 3);
  return { family, range: { first, last } };
};

const searchable = (ranges: AddressRange[]): ((address: AddressWords) => boolean) => {
  ranges.sort((a, b) => compare(a.first, 0, b.first, 0));
  const merged: AddressRange[] = [];
  for (const range of ranges) {
    const previous = merged.at(-1);
    if (!previous || compare(range.first, 0, previous.last, 0) > 0) merged.push(range);
    else if (compare(range.last, 0, previous.last, 0) > 0) previous.last = range.last;
  }
  const firsts = new Uint32Array(merged.length * 4);
  const lasts = new Uint32Array(merged.length * 4);
  for (const [index, range] of merged.entries()) {
    firsts.set(range.first, index * 4);
    lasts.set(range.last, index * 4);
  }
  return (address) => {
    let low = 0;
    let high = merged.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(firsts, middle * 4, address, 0) <= 0) low = middle + 1;
      else high = middle;
    }
    return low > 0 && compare(address, 0, lasts, (low - 1) * 4) <= 0;
  };
};

/** Builds the set of these addresses and CIDR blocks. Throws OperatorError at the first that does not parse. */
export const createIpSet = (blocks: readonly string[]): IpSet => {
  const byFamily: Record<4 | 6, AddressRange[]> = { 4: [], 6: [] };
  for (const block of blocks) {
    const { family, range } = parseBlock(block);
    byFamily[family].push(range);
  }
  const search = { 4: searchable(byFamily[4]), 6: searchable(byFamily[6]) };
  const words = new Uint32Array(4);
  return {
    has(buf, start, end) {
      const family = parseAddress(buf, start, end, words);
      return family !== 0 && search[family](words);
    },
  };
};
