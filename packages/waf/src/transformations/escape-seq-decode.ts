import { HEX_VALUE } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { isOctal, SIMPLE_ESCAPES } from './c-escapes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const BACKSLASH = 0x5c;

/** Decodes ANSI C escapes: letters, `\xHH`, `\OOO` (low eight bits); an unknown escape loses its backslash. */
export const escapeSeqDecode: Transformation = {
  name: 'escapeSeqDecode',
  triggers: flagBytes('\\'),
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
      if ((next | 0x20) === 0x78 && from + 3 < end) {
        const value = (HEX_VALUE[src[from + 2]!]! << 4) | HEX_VALUE[src[from + 3]!]!;
        if (value >= 0) {
          out[to++] = value;
          from += 4;
          continue;
        }
      } else if (isOctal(next)) {
        let value = 0;
        let digits = 0;
        while (digits < 3 && from + 1 + digits < end && isOctal(src[from + 1 + digits]!)) {
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
