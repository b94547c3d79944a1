const flags = (chars: string): Uint8Array => {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(chars, 'latin1')) set[byte] = 1;
  return set;
};

/** NUL is a blank to Oracle, A0 to MySQL in Latin-1. */
export const BLANK = flags(' \t\n\v\f\r\xa0\0');
export const WORD_END = flags(' []{}<>:\\?=@!#~+-*/&|^%(),\';\t\n\v\f\r"\xa0\0');
export const VARIABLE_END = flags(' <>:\\?=@!#~+-*/&|^%(),\';\t\n\v\f\r`"');
export const DIGIT = flags('0123456789');
export const HEX = flags('0123456789abcdefABCDEF');
export const OCTAL = flags('01234567');
export const BIT = flags('01');
export const AMOUNT = flags('0123456789.,');
/** Of the tag of a PostgreSQL text, which is a name there. */
export const TAG = flags('0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_').fill(1, 0x80);

/** Where a run of bytes that are in the set ends. */
export const skip = (set: Uint8Array, buf: Uint8Array, from: number, end: number): number => {
  let at = from;
  while (at < end && set[buf[at]!] === 1) at++;
  return at;
};

/** Where the first byte of the set is. */
export const skipTo = (set: Uint8Array, buf: Uint8Array, from: number, end: number): number => {
  let at = from;
  while (at < end && set[buf[at]!] === 0) at++;
  return at;
};
