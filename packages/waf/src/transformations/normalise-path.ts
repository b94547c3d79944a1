import { flagBytes, sameLength, type Transformation } from './transformation.ts';

const [SLASH, BACKSLASH, DOT] = [0x2f, 0x5c, 0x2e] as const;

/**
 * Segment by segment, in ModSecurity 3's sense, whose edges are: a segment that merely ends in `..` is dropped like a
 * back-reference (`b..`, `...`); a relative path keeps back-references that lead above its start; the result ends in a
 * slash only if the input did, so `/.` becomes nothing.
 */
const normaliser = (name: string, isWindows: boolean): Transformation => ({
  name,
  // Only a doubled slash, a dot at the end of a segment or a backslash can change anything.
  triggers: flagBytes(isWindows ? '/\\.' : '/.'),
  bound: sameLength,
  apply(src, start, end, out, at) {
    if (start === end) return -1;
    const isSeparator = (byte: number): boolean => byte === SLASH || (isWindows && byte === BACKSLASH);
    const isRelative = !isSeparator(src[start]!);
    const isTrailing = isSeparator(src[end - 1]!);
    let isChanged = false;
    let isAtRoot = false;
    let from = start;
    let to = at;
    while (from < end) {
      if (isSeparator(src[from]!)) {
        while (from < end && isSeparator(src[from]!)) {
          if (src[from] === BACKSLASH) isChanged = true;
          from++;
        }
        if (!isRelative || to > at) out[to++] = SLASH;
        continue;
      }
      const segment = to;
      while (from < end && !isSeparator(src[from]!)) out[to++] = src[from++]!;
      const length = to - segment;
      if (out[to - 1] !== DOT) {
        if (to - 1 > at) isAtRoot = false;
      } else if (length === 1) {
        to = segment > at ? segment - 1 : at;
      } else if (out[to - 2] === DOT) {
        if (isRelative && (isAtRoot || to - at <= 3)) {
          isAtRoot = true;
          continue;
        }
        to -= 4;
        while (to > at && out[to] !== SLASH) to--;
        if (to <= at) {
          to = at;
          isAtRoot = true;
        }
      }
    }
    if (!isTrailing && to > at && out[to - 1] === SLASH) to--;
    return isChanged || to - at !== end - start ? to - at : -1;
  },
});

/** Removes doubled slashes, self-references and back-references from a path. */
export const normalisePath = normaliser('normalisePath', false);
/** normalisePath that takes backslashes for slashes first: all of them, where ModSecurity 3 misses some behind runs. */
export const normalisePathWin = normaliser('normalisePathWin', true);
