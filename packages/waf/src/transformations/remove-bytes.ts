import { isSpace } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

/** Removes NUL bytes. */
export const removeNulls: Transformation = {
  name: 'removeNulls',
  triggers: flagBytes('\0'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    while (from < end && src[from] !== 0) from++;
    if (from === end) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    for (; from < end; from++) {
      const byte = src[from]!;
      if (byte !== 0) out[to++] = byte;
    }
    return to - at;
  },
};

/**
 * Removes white space, and A0 (NBSP in Latin-1) and C2 (the first byte of NBSP in UTF-8) wherever they stand, as
 * ModSecurity 3 does.
 */
export const removeWhitespace: Transformation = {
  name: 'removeWhitespace',
  triggers: flagBytes('\t\n\v\f\r \xa0\xc2'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let to = at;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      if (!isSpace(byte) && byte !== 0xa0 && byte !== 0xc2) out[to++] = byte;
    }
    return to - at === end - start ? -1 : to - at;
  },
};
