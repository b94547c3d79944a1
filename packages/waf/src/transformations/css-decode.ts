import { HEX_VALUE, IS_SPACE } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const [BACKSLASH, NEWLINE] = [0x5c, 0x0a] as const;
const MOST_DIGITS = 6;

/**
 * Decodes CSS escapes (CSS 2, section 4.1.3): `\` and one to six hexadecimal digits (full-width forms to ASCII, else
 * the low byte) with one blank after them swallowed, `\` newline to nothing, `\C` to C.
 */
export const cssDecode: Transformation = {
  name: 'cssDecode',
  triggers: flagBytes('\\'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    while (from < end && src[from] !== BACKSLASH) from++;
    if (from === end) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    while (from < end) {
      const byte = src[from]!;
      from++;
      if (byte !== BACKSLASH) {
        out[to++] = byte;
        continue;
      }
      if (from === end) break;
      let code = 0;
      let digits = 0;
      while (digits < MOST_DIGITS && from + digits < end && HEX_VALUE[src[from + digits]!]! >= 0) {
        code = (code << 4) | HEX_VALUE[src[from + digits]!]!;
        digits++;
      }
      if (digits > 0) {
        const low = code & 0xff;
        out[to++] = code > 0xff00 && code < 0xff5f ? low + 0x20 : low;
        from += digits;
        if (from < end && IS_SPACE[src[from]!] === 1) from++;
      } else {
        if (src[from] !== NEWLINE) out[to++] = src[from]!;
        from++;
      }
    }
    return to - at;
  },
};
