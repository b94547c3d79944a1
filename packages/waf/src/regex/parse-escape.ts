import type { PcreNode } from './ast.ts';
import {
  type ByteSet,
  digits,
  horizontalSpaces,
  invertSet,
  notNewline,
  spaces,
  verticalSpaces,
  wordBytes,
} from './byte-set.ts';
import { notWordBoundary, textEnd, textEndOrFinalNewline, textStart, wordBoundary } from './edges.ts';
import { PatternError } from './pattern-error.ts';

/** Where the parser stands in a Latin-1 source. */
export type Cursor = { readonly source: string; at: number };

/** What a backslash sequence stands for; `quote` is `\Q`, `unquote` a stray `\E`. */
export type Escape =
  | { kind: 'byte'; byte: number }
  | { kind: 'set'; set: ByteSet }
  | { kind: 'node'; node: PcreNode }
  | { kind: 'reference'; group: number | string }
  | { kind: 'newline_sequence' }
  | { kind: 'quote' }
  | { kind: 'unquote' };

const classEscapes: Readonly<Record<string, ByteSet>> = {
  d: digits,
  D: invertSet(digits),
  h: horizontalSpaces,
  H: invertSet(horizontalSpaces),
  s: spaces,
  S: invertSet(spaces),
  v: verticalSpaces,
  V: invertSet(verticalSpaces),
  w: wordBytes,
  W: invertSet(wordBytes),
};

const edgeEscapes: Readonly<Record<string, PcreNode>> = {
  A: textStart,
  B: notWordBoundary,
  b: wordBoundary,
  // The search always begins where the text does.
  G: textStart,
  Z: textEndOrFinalNewline,
  z: textEnd,
};

const controlEscapes: Readonly<Record<string, number>> = { a: 0x07, e: 0x1b, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 };

const take = (cursor: Cursor, pattern: RegExp): string => {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.source)?.[0] ?? '';
  cursor.at += found.length;
  return found;
};

const byteValue = (digitsText: string, radix: number, offset: number): Escape => {
  const byte = digitsText === '' ? 0 : Number.parseInt(digitsText, radix);
  if (byte > 0xff) throw new PatternError('character code above 0xff: patterns match bytes', offset);
  return { kind: 'byte', byte };
};

const bracedNumber = (cursor: Cursor, digitsOf: RegExp, radix: number, offset: number): Escape => {
  cursor.at++;
  const text = take(cursor, digitsOf);
  if (text === '' || cursor.source[cursor.at] !== '}') throw new PatternError('malformed character code', offset);
  cursor.at++;
  return byteValue(text, radix, offset);
};

const readName = (cursor: Cursor, close: string, offset: number): string => {
  const name = take(cursor, /[A-Za-z_][A-Za-z0-9_]*/y);
  if (name === '' || cursor.source[cursor.at] !== close) throw new PatternError('malformed group name', offset);
  cursor.at++;
  return name;
};

const closers: Readonly<Record<string, string>> = { '{': '}', '<': '>', "'": "'" };

const readReference = (cursor: Cursor, letter: string, groupsOpened: number, offset: number): Escape => {
  const open = cursor.source[cursor.at] ?? '';
  if (letter === 'k') {
    const close = closers[open];
    if (close === undefined) throw new PatternError('\\k needs a group name', offset);
    cursor.at++;
    return { kind: 'reference', group: readName(cursor, close, offset) };
  }
  if (open === '<' || open === "'") throw new PatternError('subroutine calls are not supported', offset);
  const isBraced = open === '{';
  if (isBraced) cursor.at++;
  const number = take(cursor, /[+-]?\d+/y);
  if (number === '') {
    if (!isBraced) throw new PatternError('\\g needs a group', offset);
    return { kind: 'reference', group: readName(cursor, '}', offset) };
  }
  if (isBraced && cursor.source[cursor.at++] !== '}') throw new PatternError('\\g{ is not closed', offset);
  const value = Number(number);
  if (number.startsWith('-')) return { kind: 'reference', group: groupsOpened + 1 + value };
  return { kind: 'reference', group: number.startsWith('+') ? groupsOpened + value : value };
};

const readDigits = (cursor: Cursor, inClass: boolean, groupCount: number, offset: number): Escape => {
  const first = cursor.source[cursor.at]!;
  if (!inClass && first !== '0') {
    const decimal = take(cursor, /\d+/y);
    const group = Number(decimal);
    // PCRE: one digit is always a back reference; more are one when there are that many groups.
    if (decimal.length === 1 || group <= groupCount) return { kind: 'reference', group };
    cursor.at -= decimal.length;
  }
  const octal = take(cursor, /[0-7]{1,3}/y);
  if (octal !== '') return byteValue(octal, 8, offset);
  cursor.at++;
  return { kind: 'byte', byte: first.charCodeAt(0) };
};

/**
 * Reads what follows a backslash (cursor after it). `groupCount` is the number of capturing groups of the whole
 * pattern, `groupsOpened` of those begun so far. Throws PatternError.
 */
export const readEscape = (cursor: Cursor, inClass: boolean, groupCount: number, groupsOpened: number): Escape => {
  const offset = cursor.at - 1;
  const letter = cursor.source[cursor.at];
  if (letter === undefined) throw new PatternError('\\ at the end of the pattern', offset);
  if (letter >= '0' && letter <= '9') return readDigits(cursor, inClass, groupCount, offset);
  cursor.at++;
  const set = classEscapes[letter];
  if (set !== undefined) return { kind: 'set', set };
  const control = controlEscapes[letter];
  if (control !== undefined) return { kind: 'byte', byte: control };
  switch (letter) {
    case 'x':
      if (cursor.source[cursor.at] === '{') return bracedNumber(cursor, /[0-9A-Fa-f]+/y, 16, offset);
      return byteValue(take(cursor, /[0-9A-Fa-f]{1,2}/y), 16, offset);
    case 'o':
      if (cursor.source[cursor.at] !== '{') throw new PatternError('\\o needs {digits}', offset);
      return bracedNumber(cursor, /[0-7]+/y, 8, offset);
    case 'c': {
      const code = cursor.source.charCodeAt(cursor.at++);
      if (!(code >= 0x20 && code <= 0x7e)) throw new PatternError('\\c needs a printable ASCII character', offset);
      return { kind: 'byte', byte: (code >= 0x61 && code <= 0x7a ? code - 0x20 : code) ^ 0x40 };
    }
    case 'Q':
      return { kind: 'quote' };
    case 'E':
      return { kind: 'unquote' };
  }
  if (inClass) {
    if (letter === 'b') return { kind: 'byte', byte: 0x08 };
  } else {
    const node = edgeEscapes[letter];
    if (node !== undefined) return { kind: 'node', node };
    if (letter === 'N') {
      if (cursor.source[cursor.at] === '{') throw new PatternError('\\N{…} is not supported', offset);
      return { kind: 'set', set: notNewline };
    }
    if (letter === 'C') return { kind: 'set', set: invertSet(new Uint32Array(8)) };
    if (letter === 'R') return { kind: 'newline_sequence' };
    if (letter === 'g' || letter === 'k') return readReference(cursor, letter, groupsOpened, offset);
    if (letter === 'K') throw new PatternError('\\K is not supported', offset);
  }
  if (/[A-Za-z]/.test(letter)) throw new PatternError(`unknown escape \\${letter}`, offset);
  return { kind: 'byte', byte: letter.charCodeAt(0) };
};
