import { IS_ALPHANUMERIC, LOWER_HEX_DIGITS } from '../bytes/ascii.ts';
import type { Transformation } from './transformation.ts';

const TRIGGERS = IS_ALPHANUMERIC.map((isPlain, byte) => (isPlain === 1 || byte === 0x2a ? 0 : 1));

/** Writes every byte but letters, digits and `*` as `%hh`, a space as `+`. */
export const urlEncode: Transformation = {
  name: 'urlEncode',
  triggers: TRIGGERS,
  bound: (n) => n * 3,
  apply(src, start, end, out, at) {
    let to = at;
    let isChanged = false;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      if (TRIGGERS[byte] === 0) {
        out[to++] = byte;
        continue;
      }
      isChanged = true;
      if (byte === 0x20) {
        out[to++] = 0x2b;
      } else {
        out[to++] = 0x25;
        out[to++] = LOWER_HEX_DIGITS[byte >> 4]!;
        out[to++] = LOWER_HEX_DIGITS[byte & 15]!;
      }
    }
    return isChanged ? to - at : -1;
  },
};
