import { HEX_VALUE } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { isOctal, SIMPLE_ESCAPES } from './c-escapes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const TRIGGERS = flagBytes('\\');
const BACKSLASH = 0x5c;

/** Decodes JavaScript escapes: `\uHHHH` (full-width forms to ASCII, else the low byte), `\xHH`, `\OOO` and `\C`. */
export const jsDecode: Transformation = {
  name: 'jsDecode',
  triggers: TRIGGERS,
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    while (from < end && src[from] !== BACKSLASH) from++;
    if (from >= end - 1) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    while (from < end) {
      const byte = src[from]!;
      if (byte !== BACKSLASH || from + 1 >= end) {
        out[to++] = byte;
        from++;
        continue;
      }
      const next = src[from + 1]!;
      if (next === 0x75 && from + 5 < end) {
        const high = (HEX_VALUE[src[from + 2]!]! << 4) | HEX_VALUE[src[from + 3]!]!;
        const low = (HEX_VALUE[src[from + 4]!]! << 4) | HEX_VALUE[src[from + 5]!]!;
        if ((high | low) >= 0) {
          out[to++] = high === 0xff && low > 0 && low < 0x5f ? low + 0x20 : low;
          from += 6;
          continue;
        }
      } else if (next === 0x78 && from + 3 < end) {
        const value = (HEX_VALUE[src[from + 2]!]! << 4) | HEX_VALUE[src[from + 3]!]!;
        if (value >= 0) {
          out[to++] = value;
          from += 4;
          continue;
        }
      } else if (isOctal(next)) {
        // A third digit counts only while the value stays a byte.
        const most = next <= 0x33 ? 3 : 2;
        let value = 0;
        let digits = 0;
        while (digits < most && from + 1 + digits < end && isOctal(src[from + 1 + digits]!)) {
          value = value * 8 + src[from + 1 + digits]! - 0x30;
          digits++;
        }
        out[to++] = value;
        from += 1 + digits;
        continue;
      }
      out[to++] = SIMPLE_ESCAPES[next]!;
      from += 2;
    }
    return to - at;
  },
};
