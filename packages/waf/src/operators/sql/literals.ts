import { findBytes } from '../../bytes/find-bytes.ts';
import { AMOUNT, BIT, BLANK, DIGIT, HEX, OCTAL, skip, TAG } from './byte-sets.ts';
import { give, type SqlCursor } from './cursor.ts';
import { readWord } from './names.ts';
import { readDelimited, readQuoted } from './quoted.ts';
import { KIND, type SqlToken } from './token.ts';

const SINGLE = 0x27;
const DOLLAR = 0x24;
const DOT = 0x2e;
const DASH = 0x2d;
const UNDERSCORE = 0x5f;
const DOLLARS = Buffer.from('$$');
/** Of numbers that begin with 0 and a letter: hexadecimal, binary, and PostgreSQL's octal ones. */
const PREFIXED: Readonly<Record<number, Uint8Array>> = { 120: HEX, 98: BIT, 111: OCTAL };
const CLOSING_BRACKET: Readonly<Record<number, number>> = { 40: 0x29, 91: 0x5d, 123: 0x7d, 60: 0x3e };

/** Reads b'01' or x'ff', which are numbers, or a word. */
export const readDigitsText = (cursor: SqlCursor, digits: Uint8Array): SqlToken => {
  const { buf, at, end } = cursor;
  if (at + 2 >= end || buf[at + 1] !== SINGLE) return readWord(cursor);
  const stop = skip(digits, buf, at + 2, end);
  if (stop >= end || buf[stop] !== SINGLE) return readWord(cursor);
  return give(cursor, KIND.number, at, stop + 1, stop + 1);
};

/** Reads Oracle's q'[text]' from the q at `q` on, or a word. */
export const readOracleText = (cursor: SqlCursor, q: number): SqlToken => {
  const { buf, end } = cursor;
  if (q + 2 >= end || (buf[q]! | 0x20) !== 0x71 || buf[q + 1] !== SINGLE || buf[q + 2]! < 33 || buf[q + 2]! > 126)
    return readWord(cursor);
  const closing = CLOSING_BRACKET[buf[q + 2]!] ?? buf[q + 2]!;
  return readDelimited(cursor, q + 3, findBytes(buf, q + 3, end, Uint8Array.of(closing, SINGLE)), 2, 0x71);
};

/** Reads a text with one letter before its quote, e'x' or n'x', or a word. */
export const readPrefixed = (cursor: SqlCursor): SqlToken => {
  const { buf, at, end } = cursor;
  return at + 2 < end && buf[at + 1] === SINGLE ? readQuoted(cursor, at + 2, SINGLE, SINGLE) : readWord(cursor);
};

/** Reads an amount of money, or PostgreSQL's $$text$$ and $tag$text$tag$. */
export const readDollar = (cursor: SqlCursor): SqlToken => {
  const { buf, at, end } = cursor;
  const start = at + 1;
  const amountEnd = skip(AMOUNT, buf, start, end);
  if (amountEnd > start) {
    if (amountEnd === start + 1 && buf[start] === DOT) return readWord(cursor);
    return give(cursor, KIND.number, at, amountEnd, amountEnd);
  }
  if (buf[start] === DOLLAR && start < end) {
    return readDelimited(cursor, start + 1, findBytes(buf, start + 1, end, DOLLARS), 2, DOLLAR);
  }
  const tagEnd = skip(TAG, buf, start, end);
  if (tagEnd === start || tagEnd >= end || buf[tagEnd] !== DOLLAR) return give(cursor, KIND.name, at, start, start);
  const tag = buf.subarray(at, tagEnd + 1);
  const body = tagEnd + 1;
  return readDelimited(cursor, body, findBytes(buf, body, end, tag), tag.length, DOLLAR);
};

/** Where digits end that may have single underscores between them, as in 1_000. */
const skipDigits = (digits: Uint8Array, buf: Uint8Array, from: number, end: number): number => {
  let at = skip(digits, buf, from, end);
  while (at > from && at + 1 < end && buf[at] === UNDERSCORE && digits[buf[at + 1]!] === 1)
    at = skip(digits, buf, at + 1, end);
  return at;
};

/** Where 0xff, 0b01 or 0o17 ends, with an underscore behind its letter as well; `start` when there are no digits. */
const skipPrefixed = ({ buf, at: start, end }: SqlCursor, digits: Uint8Array): number => {
  const from = start + 2 < end && buf[start + 2] === UNDERSCORE ? start + 3 : start + 2;
  const stop = skipDigits(digits, buf, from, end);
  return stop === from ? start : stop;
};

/** Reads a number of any dialect, or a dot. */
export const readNumber = (cursor: SqlCursor): SqlToken => {
  const { buf, at: start, end } = cursor;
  const digits = buf[start] !== 0x30 || start + 1 >= end ? undefined : PREFIXED[buf[start + 1]! | 0x20];
  if (digits !== undefined) {
    const stop = skipPrefixed(cursor, digits);
    if (stop > start) return give(cursor, KIND.number, start, stop, stop);
    if (digits === HEX) return give(cursor, KIND.name, start, start + 2, start + 2);
  }
  let stop = skipDigits(DIGIT, buf, start, end);
  if (stop < end && buf[stop] === DOT) {
    stop = skipDigits(DIGIT, buf, stop + 1, end);
    if (stop === start + 1) return give(cursor, KIND.dot, start, stop, stop);
  }
  let isWord = false;
  if (stop < end && (buf[stop]! | 0x20) === 0x65) {
    stop++;
    if (stop < end && (buf[stop] === 0x2b || buf[stop] === DASH)) stop++;
    const exponent = skipDigits(DIGIT, buf, stop, end);
    isWord = exponent === stop;
    stop = exponent;
  }
  // Oracle's suffix of floats; 1fUNION is 1f UNION to it.
  if (stop < end && ((buf[stop]! | 0x20) === 0x64 || (buf[stop]! | 0x20) === 0x66)) {
    const next = stop + 1 < end ? buf[stop + 1]! : 0x20;
    if (BLANK[next] === 1 || next === 0x3b || (next | 0x20) === 0x75) stop++;
  }
  return give(cursor, isWord ? KIND.name : KIND.number, start, stop, stop);
};
