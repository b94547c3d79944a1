import { LOWER_HEX_DIGITS } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import type { Transformation } from './transformation.ts';

const TRIGGERS = new Uint8Array(256).fill(1, 0x80);
TRIGGERS[0] = 1;

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

const sequenceLength = (src: Uint8Array, from: number, end: number): number => {
  const lead = src[from]!;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (from + length > end) return 0;
  for (let i = 1; i < length; i++) if (!isContinuation(src[from + i]!)) return 0;
  return length;
};

/**
 * Writes each UTF-8 sequence as `%uHHHH` (four digits, more above FFFF). As in ModSecurity 3: the lead byte follows an
 * overlong form or a surrogate, an incomplete sequence loses its lead byte, a stray continuation byte stays, and a NUL
 * that is not the last byte goes.
 */
export const utf8toUnicode: Transformation = {
  name: 'utf8toUnicode',
  triggers: TRIGGERS,
  bound: (n) => n * 4,
  apply(src, start, end, out, at) {
    let from = start;
    // Neither NUL nor above 127, in one comparison.
    while (from < end && (src[from]! - 1) >>> 0 < 0x7f) from++;
    if (from === end || (src[from] === 0 && from === end - 1)) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    let isChanged = false;
    while (from < end) {
      const byte = src[from]!;
      if ((byte - 1) >>> 0 < 0x7f) {
        out[to++] = byte;
        from++;
        continue;
      }
      if (byte === 0) {
        if (from === end - 1) out[to++] = byte;
        else isChanged = true;
        from++;
        continue;
      }
      if (byte < 0xc0 || byte >= 0xf8) {
        out[to++] = byte;
        from++;
        continue;
      }
      if (byte >= 0xf5) out[to++] = byte;
      const length = sequenceLength(src, from, end);
      if (length === 0) {
        if (byte < 0xf5) isChanged = true;
        from++;
        continue;
      }
      let code = byte & (0x7f >> length);
      for (let i = 1; i < length; i++) code = (code << 6) | (src[from + i]! & 0x3f);
      out[to++] = 0x25;
      out[to++] = 0x75;
      for (let shift = code > 0xfffff ? 20 : code > 0xffff ? 16 : 12; shift >= 0; shift -= 4) {
        out[to++] = LOWER_HEX_DIGITS[(code >> shift) & 15]!;
      }
      if (code >= 0xd800 && code <= 0xdfff) out[to++] = byte;
      if (code < (length === 4 ? 0x10000 : length === 3 ? 0x800 : 0x80)) out[to++] = byte;
      from += length;
      isChanged = true;
    }
    return isChanged ? to - at : -1;
  },
};
