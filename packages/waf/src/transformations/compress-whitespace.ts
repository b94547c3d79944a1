import { IS_SPACE, isSpace } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { sameLength, type Transformation } from './transformation.ts';

/** Turns each run of white space into one space. */
export const compressWhitespace: Transformation = {
  name: 'compressWhitespace',
  triggers: IS_SPACE,
  bound: sameLength,
  apply(src, start, end, out, at) {
    let from = start;
    // A single blank between other bytes is already what it should be, and most texts hold nothing else.
    for (; from < end; from++) {
      const byte = src[from]!;
      if (isSpace(byte) && (byte !== 0x20 || (from + 1 < end && isSpace(src[from + 1]!)))) break;
    }
    if (from === end) return -1;
    copyBytes(src, start, from, out, at);
    let to = at + from - start;
    let isInRun = false;
    for (; from < end; from++) {
      const byte = src[from]!;
      if (!isSpace(byte)) {
        out[to++] = byte;
        isInRun = false;
      } else if (!isInRun) {
        out[to++] = 0x20;
        isInRun = true;
      }
    }
    return to - at;
  },
};
