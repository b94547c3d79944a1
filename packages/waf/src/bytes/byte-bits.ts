import { byteClassBits } from './byte-classes.ts';

/** Set for A–Z on top of the letters' class bit: it tells t:lowercase whether it has work. */
const upperCaseBit = 1 << 31;

const isUpperCase = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;

/** Class bits of each byte value, with a bit of its own for upper-case letters. */
const bits: Int32Array = Int32Array.from(byteClassBits, (bit, byte) => (isUpperCase(byte) ? bit | upperCaseBit : bit));

/** Which classes of bytes a range holds. */
export const maskOf = (buf: Uint8Array, start: number, end: number): number => {
  let mask = 0;
  for (let at = start; at < end; at++) mask |= bits[buf[at]!]!;
  return mask;
};

/** A mask that has a bit in common with the mask of every range that holds a flagged byte. */
export const maskOfFlags = (flags: Uint8Array): number => {
  let mask = 0;
  for (let byte = 0; byte < 256; byte++) {
    if (flags[byte] !== 0) mask |= isUpperCase(byte) ? upperCaseBit : byteClassBits[byte]!;
  }
  return mask;
};
