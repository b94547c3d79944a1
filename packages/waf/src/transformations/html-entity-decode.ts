import { HEX_VALUE, IS_ALPHANUMERIC, LOWER } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const [AMPERSAND, HASH, SEMICOLON] = [0x26, 0x23, 0x3b] as const;
/** strtol(3) stops counting here and answers the greatest long, whose low byte is FF. */
const LONG_MAX = 2 ** 63;

const NAMED: readonly (readonly [Uint8Array, number])[] = Object.entries({
  quot: 0x22,
  amp: 0x26,
  lt: 0x3c,
  gt: 0x3e,
  nbsp: 0xa0,
}).map(([name, byte]) => [new TextEncoder().encode(name), byte]);

const startsWithCaseless = (src: Uint8Array, start: number, end: number, word: Uint8Array): boolean => {
  if (end - start < word.length) return false;
  for (let i = 0; i < word.length; i++) if (LOWER[src[start + i]!] !== word[i]) return false;
  return true;
};

/**
 * Decodes numeric entities of any length to their low byte, and quot, amp, lt, gt and nbsp, with or without a semicolon.
 *
 * Two departures from ModSecurity 3, each a way past the rules: 3.0.13 reads only two or three digits, so that leading
 * zeros hide a character (CVE-2025-27110); and its name comparison is by prefix but then throws the rest of the word
 * away, so that `&ltscript` loses "script". Here, as in browsers, the rest of the word stays.
 */
export const htmlEntityDecode: Transformation = {
  name: 'htmlEntityDecode',
  triggers: flagBytes('&'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    while (from < end && src[from] !== AMPERSAND) from++;
    if (from >= end - 1) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    let isChanged = false;
    while (from < end) {
      const byte = src[from]!;
      if (byte !== AMPERSAND || from + 1 >= end) {
        out[to++] = byte;
        from++;
        continue;
      }
      let next = from + 1;
      let decoded = -1;
      if (src[next] === HASH) {
        const isHex = next + 1 < end && (src[next + 1]! | 0x20) === 0x78;
        const radix = isHex ? 16 : 10;
        const digits = next + (isHex ? 2 : 1);
        let magnitude = 0;
        let low = 0;
        for (next = digits; next < end; next++) {
          const digit = HEX_VALUE[src[next]!]!;
          if (digit < 0 || digit >= radix) break;
          magnitude = magnitude * radix + digit;
          low = (low * radix + digit) & 0xff;
        }
        if (next > digits) decoded = magnitude >= LONG_MAX ? 0xff : low;
      } else if (IS_ALPHANUMERIC[src[next]!] === 1) {
        for (const [name, value] of NAMED) {
          if (!startsWithCaseless(src, next, end, name)) continue;
          decoded = value;
          next += name.length;
          break;
        }
      }
      if (decoded < 0) {
        out[to++] = byte;
        from++;
      } else {
        out[to++] = decoded;
        from = next < end && src[next] === SEMICOLON ? next + 1 : next;
        isChanged = true;
      }
    }
    return isChanged ? to - at : -1;
  },
};
