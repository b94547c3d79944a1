import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const [SLASH, STAR, DASH, HASH, LESS, GREATER, BANG, SPACE] = [0x2f, 0x2a, 0x2d, 0x23, 0x3c, 0x3e, 0x21, 0x20] as const;

const isMarkupOpening = (src: Uint8Array, at: number, end: number): boolean =>
  at + 3 < end && src[at + 1] === BANG && src[at + 2] === DASH && src[at + 3] === DASH;

/** Puts one space in place of each C comment, closed or not; a stray closing mark stays. */
export const replaceComments: Transformation = {
  name: 'replaceComments',
  triggers: flagBytes('*'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let to = at;
    let isInside = false;
    let isChanged = false;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      if (isInside) {
        if (byte === STAR && from + 1 < end && src[from + 1] === SLASH) {
          isInside = false;
          out[to++] = SPACE;
          from++;
        }
      } else if (byte === SLASH && from + 1 < end && src[from + 1] === STAR) {
        isInside = true;
        isChanged = true;
        from++;
      } else {
        out[to++] = byte;
      }
    }
    if (isInside) out[to++] = SPACE;
    return isChanged ? to - at : -1;
  },
};

/**
 * Removes C and markup comments, and everything from `--` or `#` on. The byte after a closing mark is copied unseen, as
 * in ModSecurity 3, where a comment that ends the value leaves a NUL behind.
 */
export const removeComments: Transformation = {
  name: 'removeComments',
  triggers: flagBytes('*-#'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let to = at;
    let from = start;
    let isInside = false;
    let isChanged = false;
    while (from < end) {
      const byte = src[from]!;
      const next = from + 1 < end ? src[from + 1]! : -1;
      if (isInside) {
        const closing =
          byte === STAR && next === SLASH
            ? 2
            : byte === DASH && next === DASH && from + 2 < end && src[from + 2] === GREATER
              ? 3
              : 0;
        if (closing === 0) {
          from++;
        } else {
          isInside = false;
          from += closing;
          out[to++] = from < end ? src[from]! : 0;
          from++;
        }
      } else if (byte === SLASH && next === STAR) {
        isInside = isChanged = true;
        from += 2;
      } else if (byte === LESS && isMarkupOpening(src, from, end)) {
        isInside = isChanged = true;
        from += 4;
      } else if (byte === HASH || (byte === DASH && next === DASH)) {
        isChanged = true;
        break;
      } else {
        out[to++] = byte;
        from++;
      }
    }
    if (isInside) out[to++] = SPACE;
    return isChanged ? to - at : -1;
  },
};

/** Removes the comment marks themselves and keeps what they enclose: slash-star pairs, `<!--`, `-->`, `--` and `#`. */
export const removeCommentsChar: Transformation = {
  name: 'removeCommentsChar',
  triggers: flagBytes('*-#'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    let to = at;
    let from = start;
    while (from < end) {
      const byte = src[from]!;
      const next = from + 1 < end ? src[from + 1]! : -1;
      if ((byte === SLASH && next === STAR) || (byte === STAR && next === SLASH)) from += 2;
      else if (byte === LESS && isMarkupOpening(src, from, end)) from += 4;
      else if (byte === DASH && next === DASH) from += from + 2 < end && src[from + 2] === GREATER ? 3 : 2;
      else if (byte === HASH) from++;
      else {
        out[to++] = byte;
        from++;
      }
    }
    return to - at === end - start ? -1 : to - at;
  },
};
