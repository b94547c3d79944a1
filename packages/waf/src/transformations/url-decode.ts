import { HEX_VALUE } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';
import { type UnicodeMap, US_ASCII_MAP } from './unicode-map.ts';

const TRIGGERS = flagBytes('%+');
const [PERCENT, PLUS, SPACE] = [0x25, 0x2b, 0x20] as const;

const decoder = (name: string, decodesUnicode: boolean, map: UnicodeMap | null): Transformation => ({
  name,
  triggers: TRIGGERS,
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    for (; from < end; from++) {
      const byte = src[from]!;
      if (byte === PERCENT || byte === PLUS) break;
    }
    if (from === end) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    let isChanged = false;
    while (from < end) {
      const byte = src[from]!;
      if (byte === PERCENT && from + 2 < end) {
        const next = src[from + 1]!;
        if (decodesUnicode && (next | 0x20) === 0x75) {
          if (from + 5 < end) {
            // -1 in any digit makes the whole negative, for OR keeps the sign.
            const high = (HEX_VALUE[src[from + 2]!]! << 4) | HEX_VALUE[src[from + 3]!]!;
            const low = (HEX_VALUE[src[from + 4]!]! << 4) | HEX_VALUE[src[from + 5]!]!;
            if ((high | low) >= 0) {
              const mapped = map === null ? -1 : map[(high << 8) | low]!;
              out[to++] = mapped >= 0 ? mapped : high === 0xff && low > 0 && low < 0x5f ? low + 0x20 : low;
              from += 6;
              isChanged = true;
              continue;
            }
          }
        } else {
          const value = (HEX_VALUE[next]! << 4) | HEX_VALUE[src[from + 2]!]!;
          if (value >= 0) {
            out[to++] = value;
            from += 3;
            isChanged = true;
            continue;
          }
        }
      } else if (byte === PLUS) {
        out[to++] = SPACE;
        from++;
        isChanged = true;
        continue;
      }
      out[to++] = byte;
      from++;
    }
    return isChanged ? to - at : -1;
  },
});

/** Decodes `%HH` and `+`; what is not a valid encoding stays. */
export const urlDecode = decoder('urlDecode', false, null);

/** urlDecode that also takes IIS's `%uHHHH` through a best-fit map, or, where that has nothing, to its low byte. */
export const createUrlDecodeUni = (map: UnicodeMap | null): Transformation => decoder('urlDecodeUni', true, map);

/** urlDecodeUni with the best fit of code page 20127. */
export const urlDecodeUni = createUrlDecodeUni(US_ASCII_MAP);
