/**
 * One partition of the byte values into 31 classes, the bits of a mask: fine where the patterns of rule sets tell
 * bytes apart (punctuation), coarse where they seldom do.
 */
const classMembers: readonly (string | [number, number][])[] = [
  '<',
  '>',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  "'",
  '"',
  '`',
  ';',
  ':',
  '|',
  '&',
  '$',
  '#',
  '%',
  '=',
  '+',
  '-',
  '*',
  '/',
  '\\',
  '.',
  ',?',
  '!@^~',
  ' ',
  [
    [0x00, 0x1f],
    [0x7f, 0xff],
  ],
  [[0x30, 0x39]],
  // What is left: letters and the underscore.
  [
    [0x41, 0x5a],
    [0x61, 0x7a],
    [0x5f, 0x5f],
  ],
];

/** The bit of each byte value, of at most 31. */
export const byteClassBits: Uint32Array = (() => {
  const bits = new Uint32Array(256);
  classMembers.forEach((members, index) => {
    if (typeof members === 'string') {
      for (let at = 0; at < members.length; at++) bits[members.charCodeAt(at)] = 1 << index;
    } else {
      for (const [first, last] of members) bits.fill(1 << index, first, last + 1);
    }
  });
  return bits;
})();

/** The classes of the bytes of a range, as a mask. */
export const classMask = (buf: Uint8Array, start: number, end: number): number => {
  let mask = 0;
  for (let at = start; at < end; at++) mask |= byteClassBits[buf[at]!]!;
  return mask;
};

/**
 * Turns a gate's byte classes into masks: a text that fulfils the gate has, for each mask, a class in common with it.
 * Masks that every class fulfils are left out. The converse does not hold: classes are coarser than sets.
 */
export const classConditions = (byteClasses: readonly Uint8Array[]): number[] => {
  const conditions = new Set<number>();
  for (const members of byteClasses) {
    let mask = 0;
    for (let byte = 0; byte < 256; byte++) if (members[byte] !== 0) mask |= byteClassBits[byte]!;
    conditions.add(mask);
  }
  conditions.delete(0x7fffffff);
  return [...conditions];
};

/** Whether a text of this class mask may fulfil the conditions. */
export const fulfilsConditions = (mask: number, conditions: readonly number[]): boolean => {
  for (let index = 0; index < conditions.length; index++) if ((mask & conditions[index]!) === 0) return false;
  return true;
};
