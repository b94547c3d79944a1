/** A set of byte values: 256 bits in eight words, never changed once it is part of a pattern. */
export type ByteSet = Uint32Array;

export const emptySet = (): ByteSet => new Uint32Array(8);

export const addByte = (set: ByteSet, byte: number): void => {
  set[byte >> 5]! |= 1 << (byte & 31);
};

export const addRange = (set: ByteSet, first: number, last: number): void => {
  for (let byte = first; byte <= last; byte++) addByte(set, byte);
};

export const addSet = (set: ByteSet, other: ByteSet): void => {
  for (let word = 0; word < 8; word++) set[word]! |= other[word]!;
};

export const hasByte = (set: ByteSet, byte: number): boolean => ((set[byte >> 5]! >>> (byte & 31)) & 1) === 1;

export const invertSet = (set: ByteSet): ByteSet => {
  const inverse = emptySet();
  for (let word = 0; word < 8; word++) inverse[word] = ~set[word]!;
  return inverse;
};

/** How many bytes are in the set. */
export const countBytes = (set: ByteSet): number => {
  let count = 0;
  for (let word = 0; word < 8; word++) {
    for (let bits = set[word]!; bits !== 0; bits &= bits - 1) count++;
  }
  return count;
};

/** The members in ascending order. */
export const bytesOf = (set: ByteSet): number[] => {
  const bytes: number[] = [];
  for (let word = 0; word < 8; word++) {
    const bits = set[word]!;
    if (bits === 0) continue;
    for (let bit = 0; bit < 32; bit++) if ((bits >>> bit) & 1) bytes.push(word * 32 + bit);
  }
  return bytes;
};

/** A string that is equal for equal sets. */
export const setKey = (set: ByteSet): string => set.join();

/** Adds the other case of every ASCII letter: PCRE's default tables fold nothing else. */
export const foldCase = (set: ByteSet): ByteSet => {
  // 'A'-'Z' are bits 1-26 of word 2, 'a'-'z' the same bits of word 3.
  const letters = (set[2]! | set[3]!) & 0x07fffffe;
  if (((set[2]! ^ set[3]!) & 0x07fffffe) === 0) return set;
  const folded = Uint32Array.from(set);
  folded[2]! |= letters;
  folded[3]! |= letters;
  return folded;
};

const fromRanges = (...ranges: [number, number][]): ByteSet => {
  const set = emptySet();
  for (const [first, last] of ranges) addRange(set, first, last);
  return set;
};

/** All 256 bytes. */
export const anyByte = fromRanges([0, 255]);
export const newline = fromRanges([0x0a, 0x0a]);
export const notNewline = invertSet(newline);
export const digits = fromRanges([0x30, 0x39]);
export const wordBytes = fromRanges([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);
/** PCRE2's `\s`: VT is white space since 8.34. */
export const spaces = fromRanges([0x09, 0x0d], [0x20, 0x20]);
export const horizontalSpaces = fromRanges([0x09, 0x09], [0x20, 0x20], [0xa0, 0xa0]);
export const verticalSpaces = fromRanges([0x0a, 0x0d], [0x85, 0x85]);

/** POSIX classes in the C locale, by name. */
export const posixClasses: Readonly<Record<string, ByteSet>> = {
  alnum: fromRanges([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]),
  alpha: fromRanges([0x41, 0x5a], [0x61, 0x7a]),
  ascii: fromRanges([0x00, 0x7f]),
  blank: fromRanges([0x09, 0x09], [0x20, 0x20]),
  cntrl: fromRanges([0x00, 0x1f], [0x7f, 0x7f]),
  digit: digits,
  graph: fromRanges([0x21, 0x7e]),
  lower: fromRanges([0x61, 0x7a]),
  print: fromRanges([0x20, 0x7e]),
  punct: fromRanges([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]),
  space: spaces,
  upper: fromRanges([0x41, 0x5a]),
  word: wordBytes,
  xdigit: fromRanges([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]),
};

const singletons = Array.from({ length: 256 }, (_, byte) => fromRanges([byte, byte]));
const foldedSingletons = singletons.map(foldCase);

/** The set of one byte, or of both cases of a letter; shared, so equal bytes give the same object. */
export const byteSet = (byte: number, caseless: boolean): ByteSet => (caseless ? foldedSingletons : singletons)[byte]!;
