const LONGEST_NAIVE_NEEDLE = 16;

/** For each prefix of the needle, the length of its longest proper border (Knuth, Morris and Pratt). */
const borders = (needle: Uint8Array): Int32Array => {
  const table = new Int32Array(needle.length);
  let length = 0;
  for (let i = 1; i < needle.length; i++) {
    while (length > 0 && needle[i] !== needle[length]) length = table[length - 1]!;
    if (needle[i] === needle[length]) length++;
    table[i] = length;
  }
  return table;
};

/** Where a byte first occurs in buf[start, end), or -1. Typed arrays' own indexOf has no end: it would search the values behind, too. */
export const findByte = (buf: Uint8Array, byte: number, start: number, end: number): number => {
  for (let at = start; at < end; at++) if (buf[at] === byte) return at;
  return -1;
};

/** Where needle[needleStart, needleEnd) first occurs in buf[start, end), or -1; linear in both, whoever chose them. */
export const findBytes = (
  buf: Uint8Array,
  start: number,
  end: number,
  needle: Uint8Array,
  needleStart = 0,
  needleEnd = needle.length,
): number => {
  const size = needleEnd - needleStart;
  if (size === 0) return start;
  if (size > end - start) return -1;
  if (size > LONGEST_NAIVE_NEEDLE) {
    const word = needle.subarray(needleStart, needleEnd);
    const table = borders(word);
    let matched = 0;
    for (let i = start; i < end; i++) {
      while (matched > 0 && buf[i] !== word[matched]) matched = table[matched - 1]!;
      if (buf[i] === word[matched]) matched++;
      if (matched === size) return i + 1 - size;
    }
    return -1;
  }
  const first = needle[needleStart]!;
  const last = end - size;
  for (let i = start; i <= last; i++) {
    if (buf[i] !== first) continue;
    let length = 1;
    while (length < size && buf[i + length] === needle[needleStart + length]) length++;
    if (length === size) return i;
  }
  return -1;
};

/** Every place, overlapping ones too, where a needle that is not empty occurs in buf[start, end), in linear time. */
export function* occurrences(buf: Uint8Array, start: number, end: number, needle: Uint8Array): Generator<number> {
  const first = findBytes(buf, start, end, needle);
  if (first < 0) return;
  yield first;
  const table = borders(needle);
  let matched = 0;
  for (let i = first + 1; i < end; i++) {
    while (matched > 0 && (matched === needle.length || buf[i] !== needle[matched])) matched = table[matched - 1]!;
    if (buf[i] === needle[matched]) matched++;
    if (matched === needle.length) yield i + 1 - matched;
  }
}
