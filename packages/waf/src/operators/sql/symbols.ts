import { give, type SqlCursor } from './cursor.ts';
import { KIND, type SqlToken } from './token.ts';

const pairs = (text: string): ReadonlySet<number> =>
  new Set(text.split(' ').map((pair) => (pair.charCodeAt(0) << 8) | pair.charCodeAt(1)));

/** Operators of two characters; `&&` and `||` are logic. */
const OPERATOR_PAIRS = pairs('!= !< !> !! <= >= <> << >> <@ @> %= &= *= += -= /= ^= |= :: := || && ->');
const LOGIC_PAIRS = pairs('|| &&');

/** Reads an operator of `length` bytes. */
export const readOperator = (cursor: SqlCursor, length: number): SqlToken =>
  give(cursor, KIND.operator, cursor.at, cursor.at + length, cursor.at + length);

/** Reads what is written in one to three signs. */
export const readSymbols = (cursor: SqlCursor): SqlToken => {
  const { buf, at, end } = cursor;
  if (at + 2 < end && buf[at] === 0x3c && buf[at + 1] === 0x3d && buf[at + 2] === 0x3e) return readOperator(cursor, 3);
  const pair = at + 1 < end ? (buf[at]! << 8) | buf[at + 1]! : 0;
  if (LOGIC_PAIRS.has(pair)) return give(cursor, KIND.logic, at, at + 2, at + 2);
  if (OPERATOR_PAIRS.has(pair)) return readOperator(cursor, 2);
  if (buf[at] === 0x3a) return give(cursor, KIND.colon, at, at + 1, at + 1);
  return readOperator(cursor, 1);
};
