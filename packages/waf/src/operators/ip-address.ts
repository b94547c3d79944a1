import { HEX_VALUE } from '../bytes/ascii.ts';

/** Four 32-bit words, most significant first; an IPv4 address is the last word behind three zeros. */
export type AddressWords = Uint32Array;

/** Reads a dotted quad of four decimal numbers without leading zeros; -1 when it is none. */
const parseQuad = (buf: Uint8Array, start: number, end: number): number => {
  let address = 0;
  let octets = 0;
  for (let at = start; ; at++) {
    let octet = 0;
    const first = at;
    for (; at < end; at++) {
      const digit = buf[at]! - 0x30;
      if (digit < 0 || digit > 9) break;
      if (at > first && octet === 0) return -1;
      octet = octet * 10 + digit;
      if (octet > 255) return -1;
    }
    if (at === first) return -1;
    address = address * 256 + octet;
    octets++;
    if (at === end) return octets === 4 ? address : -1;
    if (octets === 4 || buf[at] !== 0x2e) return -1;
  }
};

const COLON = 0x3a;
const groups = new Uint16Array(8);

const parseGroups = (buf: Uint8Array, start: number, end: number): boolean => {
  let count = 0;
  let gap = -1;
  let at = start;
  if (end - start >= 2 && buf[at] === COLON) {
    if (buf[at + 1] !== COLON) return false;
    gap = 0;
    at += 2;
  }
  while (at < end) {
    if (count === 8) return false;
    const first = at;
    let value = 0;
    while (at < end && at - first < 4 && HEX_VALUE[buf[at]!]! >= 0) value = value * 16 + HEX_VALUE[buf[at++]!]!;
    if (at < end && buf[at] === 0x2e) {
      const quad = parseQuad(buf, first, end);
      if (quad < 0 || count > 6) return false;
      groups[count++] = quad >>> 16;
      groups[count++] = quad & 0xffff;
      at = end;
      break;
    }
    if (at === first) return false;
    groups[count++] = value;
    if (at === end) break;
    if (buf[at] !== COLON) return false;
    at++;
    if (at === end) return false;
    if (buf[at] === COLON) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    }
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  groups.copyWithin(8 - (count - gap), gap, count);
  groups.fill(0, gap, 8 - (count - gap));
  return true;
};

/**
 * Reads an address of RFC 4291 text form into `words`: answers 4 or 6 for its family, 0 when it is no address. An
 * IPv4-mapped address (::ffff:a.b.c.d) is the IPv4 address, for both name one peer.
 */
export const parseAddress = (buf: Uint8Array, start: number, end: number, words: AddressWords): 0 | 4 | 6 => {
  if (end - start < 2 || end - start > 45) return 0;
  const quad = parseQuad(buf, start, end);
  if (quad >= 0) {
    words.fill(0);
    words[3] = quad;
    return 4;
  }
  if (!parseGroups(buf, start, end)) return 0;
  for (let word = 0; word < 4; word++) words[word] = (groups[word * 2]! << 16) | groups[word * 2 + 1]!;
  if (words[0] !== 0 || words[1] !== 0 || words[2] !== 0xffff) return 6;
  words[2] = 0;
  return 4;
};
