import { LOWER } from '../bytes/ascii.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const [COPY, DROP, BLANK, SWALLOW_BLANK] = [0, 1, 2, 3];
const KIND = new Uint8Array(256);
for (const byte of '"\'\\^') KIND[byte.charCodeAt(0)] = DROP!;
for (const byte of ' ,;\t\r\n') KIND[byte.charCodeAt(0)] = BLANK!;
for (const byte of '/(') KIND[byte.charCodeAt(0)] = SWALLOW_BLANK!;

/**
 * Undoes what a shell ignores: drops `" ' \ ^`, turns runs of blanks, commas and semicolons into one space, drops the
 * space before `/` and `(`, and lower-cases.
 */
export const cmdLine: Transformation = {
  name: 'cmdLine',
  triggers: flagBytes('"\'\\^ ,;\t\r\nABCDEFGHIJKLMNOPQRSTUVWXYZ'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let to = at;
    let isAfterBlank = false;
    let isChanged = false;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      if ((byte - 0x61) >>> 0 < 26) {
        out[to++] = byte;
        isAfterBlank = false;
        continue;
      }
      const kind = KIND[byte]!;
      if (kind === COPY) {
        const lower = LOWER[byte]!;
        if (lower !== byte) isChanged = true;
        out[to++] = lower;
        isAfterBlank = false;
      } else if (kind === BLANK) {
        if (!isAfterBlank) out[to++] = 0x20;
        if (byte !== 0x20) isChanged = true;
        isAfterBlank = true;
      } else if (kind === SWALLOW_BLANK) {
        if (isAfterBlank) to--;
        out[to++] = byte;
        isAfterBlank = false;
      }
    }
    return isChanged || to - at !== end - start ? to - at : -1;
  },
};
