import { findByte, findBytes } from '../../bytes/find-bytes.ts';
import { BLANK, skip } from './byte-sets.ts';
import { give, type SqlCursor } from './cursor.ts';
import { readOperator } from './symbols.ts';
import { KIND, type SqlToken } from './token.ts';

const DASH = 0x2d;
const SLASH = 0x2f;
const STAR = 0x2a;
const HASH = 0x23;
const NEWLINE = 0x0a;
const OPENS = Buffer.from('/*');
const CLOSES = Buffer.from('*/');

/** Whether -- begins a comment here; to MySQL only before a blank. */
const isDashComment = ({ buf, end, isMysql }: SqlCursor, at: number): boolean =>
  buf[at] === DASH && buf[at + 1] === DASH && at + 1 < end && (!isMysql || at + 2 >= end || BLANK[buf[at + 2]!] === 1);

/** Where, from `from` on, the next token begins that is no comment. */
export const afterBlanks = (cursor: SqlCursor, from: number): number => {
  const { buf, end, isMysql } = cursor;
  for (let cut = from; ; ) {
    cut = skip(BLANK, buf, cut, end);
    if (cut + 1 >= end) return cut;
    let close = -1;
    if (buf[cut] === SLASH && buf[cut + 1] === STAR) close = findBytes(buf, cut + 2, end, CLOSES) + 1;
    else if (isDashComment(cursor, cut) || (isMysql && buf[cut] === HASH)) close = findByte(buf, NEWLINE, cut, end);
    else return cut;
    if (close <= 0) return end;
    cut = close + 1;
  }
};

const readLineComment = (cursor: SqlCursor): SqlToken => {
  const { buf, at, end } = cursor;
  const newline = findByte(buf, NEWLINE, at, end);
  if (newline < 0) return give(cursor, KIND.comment, at, end, end);
  return give(cursor, KIND.comment, at, newline, newline + 1);
};

/** Reads a comment or a division; what servers disagree on (comments in comments, MySQL's that are executed) is evil. */
export const readSlash = (cursor: SqlCursor): SqlToken => {
  const { buf, at, end } = cursor;
  if (buf[at + 1] !== STAR || at + 1 >= end) return readOperator(cursor, 1);
  const close = findBytes(buf, at + 2, end, CLOSES);
  const stop = close < 0 ? end : close + 2;
  const inner = close < 0 ? -1 : findBytes(buf, at + 2, close + 1, OPENS);
  const isEvil = inner >= 0 || (at + 2 < end && buf[at + 2] === 0x21);
  return give(cursor, isEvil ? KIND.evil : KIND.comment, at, stop, stop);
};

/** Reads a comment or a minus. */
export const readDash = (cursor: SqlCursor): SqlToken => {
  const { buf, at, end } = cursor;
  if (at + 1 >= end || buf[at + 1] !== DASH) return readOperator(cursor, 1);
  if (at + 2 >= end || BLANK[buf[at + 2]!] === 1) return readLineComment(cursor);
  if (cursor.isMysql) return readOperator(cursor, 1);
  cursor.hasDialectComment = true;
  return readLineComment(cursor);
};

/** Reads MySQL's comment; an operator to the others. */
export const readHash = (cursor: SqlCursor): SqlToken => {
  cursor.hasDialectComment = true;
  return cursor.isMysql ? readLineComment(cursor) : readOperator(cursor, 1);
};
