import { LOWER, UPPER } from './ascii.ts';
import { copyBytes } from './copy-bytes.ts';
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

export const lowercase = mapBytes('lowercase', (byte) => LOWER[byte]!);
export const uppercase = mapBytes('uppercase', (byte) => UPPER[byte]!);
export const replaceNulls = mapBytes('replaceNulls', (byte) => (byte === 0 ? 0x20 : byte));
// ModSecurity counts all eight bits of the byte, then sets or clears the eighth: kept, though a true 7-bit parity would not.
export const parityEven7bit = mapBytes('parityEven7bit', (byte) => (hasOddParity(byte) ? byte | 0x80 : byte & 0x7f));
export const parityOdd7bit = mapBytes('parityOdd7bit', (byte) => (hasOddParity(byte) ? byte & 0x7f : byte | 0x80));
export const parityZero7bit = mapBytes('parityZero7bit', (byte) => byte & 0x7f);
