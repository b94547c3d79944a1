import { findByte } from '../../bytes/find-bytes.ts';
import { BIT, BLANK, DIGIT, HEX } from './byte-sets.ts';
import { readDash, readHash, readSlash } from './comments.ts';
import { createCursor, give, type SqlCursor } from './cursor.ts';
import { readDigitsText, readDollar, readNumber, readOracleText, readPrefixed } from './literals.ts';
import { readTicked, readVariable, readWord } from './names.ts';
import { readQuoted } from './quoted.ts';
import { readOperator, readSymbols } from './symbols.ts';
import { KIND, type SqlToken } from './token.ts';

const SINGLE = 0x27;
const DOUBLE = 0x22;
const TICK = 0x60;
const DASH = 0x2d;
const SLASH = 0x2f;
const STAR = 0x2a;
const BACKSLASH = 0x5c;
const DOLLAR = 0x24;

/** Reads the token that begins with `byte`, at the cursor. */
const readToken = (cursor: SqlCursor, byte: number): SqlToken => {
  const { buf, at, end } = cursor;
  switch (byte) {
    case 0x21: // !
    case 0x25: // %
    case 0x26: // &
    case STAR:
    case 0x2b: // +
    case 0x3a: // :
    case 0x3c: // <
    case 0x3d: // =
    case 0x3e: // >
    case 0x5e: // ^
    case 0x7c: // |
      return readSymbols(cursor);
    case 0x7e: // ~
      return readOperator(cursor, 1);
    case 0x23: // #
      return readHash(cursor);
    case DASH:
      return readDash(cursor);
    case SLASH:
      return readSlash(cursor);
    case SINGLE:
    case DOUBLE:
      return readQuoted(cursor, at + 1, byte, byte);
    case TICK:
      return readTicked(cursor);
    case DOLLAR:
      return readDollar(cursor);
    case 0x40: // @
      return readVariable(cursor);
    case 0x28: // (
    case 0x29: // )
    case 0x2c: // ,
    case 0x3b: // ;
    case 0x7b: // {
    case 0x7d: // }
      return give(cursor, byte, at, at + 1, at + 1);
    case 0x3f: // ?
    case 0x5d: // ]
      return give(cursor, KIND.unknown, at, at + 1, at + 1);
    case 0x5b: {
      // SQL Server's [name].
      const close = findByte(buf, 0x5d, at, end);
      const stop = close < 0 ? end : close + 1;
      return give(cursor, KIND.name, at, stop, stop);
    }
    case BACKSLASH:
      // \N is MySQL's null.
      if (at + 1 < end && buf[at + 1] === 0x4e) return give(cursor, KIND.number, at, at + 2, at + 2);
      return give(cursor, KIND.backslash, at, at + 1, at + 1);
    case 0x42:
    case 0x62: // b
      return readDigitsText(cursor, BIT);
    case 0x58:
    case 0x78: // x
      return readDigitsText(cursor, HEX);
    case 0x45:
    case 0x65: // e
      return readPrefixed(cursor);
    case 0x4e:
    case 0x6e: // n
      return at + 1 < end && buf[at + 1] !== SINGLE ? readOracleText(cursor, at + 1) : readPrefixed(cursor);
    case 0x51:
    case 0x71: // q
      return readOracleText(cursor, at);
    case 0x55:
    case 0x75: // u
      if (at + 2 < end && buf[at + 1] === 0x26 && buf[at + 2] === SINGLE)
        return readQuoted(cursor, at + 3, SINGLE, byte);
      return readWord(cursor);
    default:
      if (DIGIT[byte] === 1 || byte === 0x2e) return readNumber(cursor);
      return readWord(cursor);
  }
};

/**
 * Reads a value as SQL, token by token, without knowing the statement it is put into: the words, numbers, quoted texts and comments of MySQL,
 * PostgreSQL, SQL Server, Oracle and SQLite. One lexer reads one value at a time.
 */
export const createSqlLexer = () => {
  const cursor = createCursor();
  /** The quote that the value lies in, until the first token is read. */
  let pendingQuote = 0;
  let count = 0;

  return {
    /** Begins with the value bytes[start, stop), taken to stand in a quote (0: in none), as MySQL or as the others read comments. */
    start(bytes: Uint8Array, start: number, stop: number, quote: number, asMysql: boolean): void {
      cursor.buf = bytes;
      cursor.at = start;
      cursor.end = stop;
      cursor.isMysql = asMysql;
      cursor.hasDialectComment = false;
      pendingQuote = quote;
      count = 0;
    },
    /** Reads the next token into `into`; false at the end of the value. */
    next(into: SqlToken): boolean {
      cursor.token = into;
      const { buf, end } = cursor;
      if (pendingQuote !== 0) {
        const quote = pendingQuote;
        pendingQuote = 0;
        readQuoted(cursor, cursor.at, quote, 0);
        count++;
        return true;
      }
      let { at } = cursor;
      while (at < end && BLANK[buf[at]!] === 1) at++;
      cursor.at = at;
      if (at >= end) return false;
      readToken(cursor, buf[at]!);
      count++;
      return true;
    },
    /** Tokens read of this value so far. */
    tokensRead: (): number => count,
    /** Whether a comment was seen that is one to MySQL alone, or to all but MySQL. */
    hasDialectComment: (): boolean => cursor.hasDialectComment,
  };
};

export type SqlLexer = ReturnType<typeof createSqlLexer>;
