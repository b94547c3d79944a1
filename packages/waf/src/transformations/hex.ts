import { HEX_VALUE, LOWER_HEX_DIGITS } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const ANY_BYTE = new Uint8Array(256).fill(1);

/** ModSecurity's reading of a digit: it does not check it, so that garbage in gives garbage out, never an error. */
const looseDigit = (byte: number): number => (byte >= 0x41 ? (byte & 0xdf) - 0x41 + 10 : byte - 0x30);

/** Writes each byte as two lower-case digits. */
export const hexEncode: Transformation = {
  name: 'hexEncode',
  triggers: ANY_BYTE,
  bound: (n) => n * 2,
  apply(src, start, end, out, at) {
    if (start === end) return -1;
    let to = at;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      out[to++] = LOWER_HEX_DIGITS[byte >> 4]!;
      out[to++] = LOWER_HEX_DIGITS[byte & 15]!;
    }
    return to - at;
  },
};

/** Reads two digits as a byte; an odd last digit is dropped. */
export const hexDecode: Transformation = {
  name: 'hexDecode',
  triggers: ANY_BYTE,
  bound: (n) => n >> 1,
  apply(src, start, end, out, at) {
    if (start === end) return -1;
    let to = at;
    for (let from = start; from + 1 < end; from += 2) {
      out[to++] = looseDigit(src[from]!) * 16 + looseDigit(src[from + 1]!);
    }
    return to - at;
  },
};

/** Decodes SQL's hexadecimal literals: `0x414243` becomes ABC. */
export const sqlHexDecode: Transformation = {
  name: 'sqlHexDecode',
  triggers: flagBytes('xX'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    const pair = (i: number): number => (HEX_VALUE[src[i]!]! << 4) | HEX_VALUE[src[i + 1]!]!;
    const opens = (i: number): boolean =>
      src[i] === 0x30 && i + 3 < end && (src[i + 1]! | 0x20) === 0x78 && pair(i + 2) >= 0;
    let from = start;
    while (from < end && !opens(from)) from++;
    if (from === end) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    while (from < end) {
      if (!opens(from)) {
        out[to++] = src[from++]!;
        continue;
      }
      for (from += 2; from + 1 < end; from += 2) {
        const value = pair(from);
        if (value < 0) break;
        out[to++] = value;
      }
    }
    return to - at;
  },
};
