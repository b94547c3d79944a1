import { copyBytes } from '../bytes/copy-bytes.ts';
import { sameLength, type Transformation } from './transformation.ts';

const mapBytes = (name: string, map: (byte: number) => number): Transformation => {
  const table = new Uint8Array(256);
  const triggers = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    table[byte] = map(byte);
    if (table[byte] !== byte) triggers[byte] = 1;
  }
  return {
    name,
    triggers,
    bound: sameLength,
    apply(src, start, end, out, at) {
      let from = start;
      while (from < end && triggers[src[from]!] === 0) from++;
      if (from === end) return -1;
      copyBytes(src, start, from, out, at);
      for (let to = at + from - start; from < end; from++, to++) out[to] = table[src[from]!]!;
      return end - start;
    },
  };
};

const hasOddParity = (byte: number): boolean => {
  let bits = byte ^ (byte >> 4);
  bits ^= bits >> 2;
  bits ^= bits >> 1;
  return (bits & 1) === 1;
};

/** Letters of one case are 26 bytes from `first` on and differ in one bit from the other's: twice as fast as a table. */
const swapCase = (name: string, first: number): Transformation => ({
  name,
  triggers: Uint8Array.from({ length: 256 }, (_, byte) => (byte >= first && byte < first + 26 ? 1 : 0)),
  bound: sameLength,
  apply(src, start, end, out, at) {
    const shift = at - start;
    let changed = 0;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      const bit = (byte - first) >>> 0 < 26 ? 0x20 : 0;
      changed |= bit;
      out[from + shift] = byte ^ bit;
    }
    return changed === 0 ? -1 : end - start;
  },
});

export const lowercase = swapCase('lowercase', 0x41);
export const uppercase = swapCase('uppercase', 0x61);
export const replaceNulls = mapBytes('replaceNulls', (byte) => (byte === 0 ? 0x20 : byte));
// ModSecurity counts all eight bits of the byte, then sets or clears the eighth: kept, though a true 7-bit parity would not.
export const parityEven7bit = mapBytes('parityEven7bit', (byte) => (hasOddParity(byte) ? byte | 0x80 : byte & 0x7f));
export const parityOdd7bit = mapBytes('parityOdd7bit', (byte) => (hasOddParity(byte) ? byte & 0x7f : byte | 0x80));
export const parityZero7bit = mapBytes('parityZero7bit', (byte) => byte & 0x7f);
