import { copyBytes } from './copy-bytes.ts';
import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const removeBytes = (name: string, removed: Uint8Array): Transformation => ({
  name,
  triggers: removed,
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    while (from < end && removed[src[from]!] === 0) from++;
    if (from === end) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    for (; from < end; from++) {
      const byte = src[from]!;
      if (removed[byte] === 0) out[to++] = byte;
    }
    return to - at;
  },
});

export const removeNulls = removeBytes('removeNulls', flagBytes('\0'));
// A0 is NBSP in Latin-1 and C2 its first byte in UTF-8: ModSecurity 3 takes both away, wherever they stand.
export const removeWhitespace = removeBytes('removeWhitespace', flagBytes('\t\n\v\f\r \xa0\xc2'));
