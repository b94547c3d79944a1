import { findByte, findBytes } from '../../bytes/find-bytes.ts';
import { AMOUNT, BIT, BLANK, DIGIT, HEX, LETTER, skip, skipTo, VARIABLE_END, WORD_END } from './byte-sets.ts';
import { createToken, KIND, type SqlToken } from './token.ts';
import { findWord, kindOfWord, wordNumber } from './words.ts';

/** Operators of two characters; `&&` and `||` are logic. */
const TWO_CHAR = new Set(
  [
    '!=',
    '!<',
    '!>',
    '!!',
    '<=',
    '>=',
    '<>',
    '<<',
    '>>',
    '<@',
    '@>',
    '%=',
    '&=',
    '*=',
    '+=',
    '-=',
    '/=',
    '^=',
    '|=',
    '::',
    ':=',
    '||',
    '&&',
    '->',
  ].map((pair) => (pair.charCodeAt(0) << 8) | pair.charCodeAt(1)),
);
const LOGIC_PAIRS = new Set([0x7c7c, 0x2626]);

const CLOSING_BRACKET: Readonly<Record<number, number>> = { 40: 0x29, 91: 0x5d, 123: 0x7d, 60: 0x3e };

const SINGLE = 0x27;
const DOUBLE = 0x22;
const TICK = 0x60;
const DASH = 0x2d;
const SLASH = 0x2f;
const STAR = 0x2a;
const BACKSLASH = 0x5c;
const DOLLAR = 0x24;
const OPEN = 0x28;
const HASH = 0x23;

const COMMENT_OPENS = Buffer.from('/*');
const COMMENT_CLOSES = Buffer.from('*/');
const DOLLARS = Buffer.from('$$');

/** Functions that are the type of a text which follows: date '2020-01-01'. */
const LITERAL_TYPES = new Set(['DATE', 'TIMESTAMP', 'INTERVAL'].map(wordNumber));

/** SQL Server's command has a condition behind it, with or without parentheses. */
const IF = wordNumber('IF');

/** No word or part of a phrase that we know is longer, bytes. */
const LONGEST_WORD = 32;

/**
 * Reads a value as SQL, token by token, without knowing the statement it is put into: the words, numbers, quoted texts and comments of MySQL,
 * PostgreSQL, SQL Server, Oracle and SQLite. One lexer reads one value at a time.
 */
export const createSqlLexer = () => {
  let buf: Uint8Array = new Uint8Array();
  let end = 0;
  let at = 0;
  let isMysql = false;
  /** The quote that the value lies in, until the first token is read. */
  let pendingQuote = 0;
  let token = createToken();
  let count = 0;
  let hasDialectComment = false;

  const give = (kind: number, start: number, stop: number, next: number): SqlToken => {
    token.kind = kind;
    token.start = start;
    token.end = stop;
    token.word = 0;
    token.opening = 0;
    token.closing = 0;
    at = next;
    return token;
  };

  const operator = (length: number): SqlToken => give(KIND.operator, at, at + length, at + length);

  const lineComment = (): SqlToken => {
    const newline = findByte(buf, 0x0a, at, end);
    return newline < 0 ? give(KIND.comment, at, end, end) : give(KIND.comment, at, newline, newline + 1);
  };

  /** A text up to its closing quote; a doubled quote and one behind an odd number of backslashes are part of it. */
  const quoted = (start: number, quote: number, opening: number): SqlToken => {
    let stop = start;
    for (;;) {
      stop = findByte(buf, quote, stop, end);
      if (stop < 0) {
        give(KIND.text, start, end, end);
        token.opening = opening;
        return token;
      }
      let backslashes = 0;
      while (stop - 1 - backslashes >= start && buf[stop - 1 - backslashes] === BACKSLASH) backslashes++;
      if (backslashes % 2 === 1) stop++;
      else if (stop + 1 < end && buf[stop + 1] === quote) stop += 2;
      else break;
    }
    give(KIND.text, start, stop, stop + 1);
    token.opening = opening;
    token.closing = quote;
    return token;
  };

  /** A text between two marks, neither of which is escaped. */
  const delimited = (start: number, stop: number, markLength: number, mark: number): SqlToken => {
    if (stop < 0) give(KIND.text, start, end, end);
    else give(KIND.text, start, stop, stop + markLength);
    token.opening = mark;
    token.closing = stop < 0 ? 0 : mark;
    return token;
  };

  /** Whether -- begins a comment here; to MySQL only before a blank. */
  const isDashComment = (dashAt: number): boolean =>
    buf[dashAt] === DASH &&
    buf[dashAt + 1] === DASH &&
    dashAt + 1 < end &&
    (!isMysql || dashAt + 2 >= end || BLANK[buf[dashAt + 2]!] === 1);

  /** Where the next token begins that is no comment. */
  const afterBlanks = (from: number): number => {
    for (let cut = from; ; ) {
      cut = skip(BLANK, buf, cut, end);
      if (cut + 1 >= end) return cut;
      let close = -1;
      if (buf[cut] === SLASH && buf[cut + 1] === STAR) close = findBytes(buf, cut + 2, end, COMMENT_CLOSES) + 1;
      else if (isDashComment(cut) || (isMysql && buf[cut] === HASH)) close = findByte(buf, 0x0a, cut, end);
      else return cut;
      if (close <= 0) return end;
      cut = close + 1;
    }
  };

  /** What a function's name is: that of a column where no parenthesis follows, the type of a text where one does. */
  const kindOfName = (found: number, stop: number): number => {
    const kind = kindOfWord(found);
    if (kind !== KIND.function || found === IF) return kind;
    const behind = afterBlanks(stop);
    if (behind < end && buf[behind] === OPEN) return kind;
    return behind < end && buf[behind] === SINGLE && LITERAL_TYPES.has(found) ? KIND.type : KIND.name;
  };

  const word = (): SqlToken => {
    const start = at;
    const limit = Math.min(end, start + LONGEST_WORD);
    let cut = start;
    // What stands before a dot or a backtick may be a word of its own: SELECT.1, SELECT`x`. It is looked for before the end
    // is: neither ends a name, so that a text full of them would be read to its end over and over.
    for (; cut < limit && WORD_END[buf[cut]!] === 0; cut++) {
      if (cut === start || (buf[cut] !== 0x2e && buf[cut] !== TICK)) continue;
      const found = findWord(buf, start, cut);
      if (found === 0 || kindOfWord(found) === KIND.name) continue;
      give(kindOfWord(found), start, cut, cut);
      token.word = found;
      return token;
    }
    const stop = skipTo(WORD_END, buf, cut, end);
    give(KIND.name, start, stop, stop);
    token.word = findWord(buf, start, stop);
    if (token.word !== 0) token.kind = kindOfName(token.word, stop);
    return token;
  };

  const ticked = (): SqlToken => {
    quoted(at + 1, TICK, TICK);
    token.word = findWord(buf, token.start, token.end);
    token.kind = kindOfWord(token.word) === KIND.function ? kindOfName(token.word, at) : KIND.name;
    return token;
  };

  /** b'01' and x'ff' are numbers. */
  const digitsText = (digits: Uint8Array): SqlToken => {
    if (at + 2 >= end || buf[at + 1] !== SINGLE) return word();
    const stop = skip(digits, buf, at + 2, end);
    if (stop >= end || buf[stop] !== SINGLE) return word();
    return give(KIND.number, at, stop + 1, stop + 1);
  };

  /** Oracle's q'[text]' from the q at `q` on. */
  const oracleText = (q: number): SqlToken => {
    if (q + 2 >= end || (buf[q]! | 0x20) !== 0x71 || buf[q + 1] !== SINGLE || buf[q + 2]! < 33 || buf[q + 2]! > 126)
      return word();
    const closing = CLOSING_BRACKET[buf[q + 2]!] ?? buf[q + 2]!;
    return delimited(q + 3, findBytes(buf, q + 3, end, Uint8Array.of(closing, SINGLE)), 2, 0x71);
  };

  const prefixed = (): SqlToken => {
    return at + 2 < end && buf[at + 1] === SINGLE ? quoted(at + 2, SINGLE, SINGLE) : word();
  };

  const variable = (): SqlToken => {
    let start = at + 1;
    if (start < end && buf[start] === 0x40) start++;
    const quote = start < end ? buf[start]! : 0;
    if (quote === SINGLE || quote === DOUBLE || quote === TICK) {
      quoted(start + 1, quote, quote);
      token.kind = KIND.variable;
      return token;
    }
    const stop = skipTo(VARIABLE_END, buf, start, end);
    return give(KIND.variable, start, stop, stop);
  };

  /** An amount of money, or PostgreSQL's $$text$$ and $tag$text$tag$. */
  const dollar = (): SqlToken => {
    const start = at + 1;
    const amountEnd = skip(AMOUNT, buf, start, end);
    if (amountEnd > start) {
      if (amountEnd === start + 1 && buf[start] === 0x2e) return word();
      return give(KIND.number, at, amountEnd, amountEnd);
    }
    if (buf[start] === DOLLAR && start < end) {
      return delimited(start + 1, findBytes(buf, start + 1, end, DOLLARS), 2, DOLLAR);
    }
    const tagEnd = skip(LETTER, buf, start, end);
    if (tagEnd === start || tagEnd >= end || buf[tagEnd] !== DOLLAR) return give(KIND.name, at, start, start);
    const tag = buf.subarray(at, tagEnd + 1);
    const body = tagEnd + 1;
    return delimited(body, findBytes(buf, body, end, tag), tag.length, DOLLAR);
  };

  const number = (): SqlToken => {
    const start = at;
    const digits = buf[at] !== 0x30 || at + 1 >= end ? 0 : buf[at + 1]! | 0x20;
    if (digits === 0x78 || digits === 0x62) {
      const stop = skip(digits === 0x78 ? HEX : BIT, buf, at + 2, end);
      return give(stop === at + 2 ? KIND.name : KIND.number, start, stop, stop);
    }
    let stop = skip(DIGIT, buf, at, end);
    // 1_000
    while (stop + 1 < end && buf[stop] === 0x5f && stop > at && DIGIT[buf[stop + 1]!] === 1)
      stop = skip(DIGIT, buf, stop + 1, end);
    if (stop < end && buf[stop] === 0x2e) {
      stop = skip(DIGIT, buf, stop + 1, end);
      if (stop === start + 1) return give(KIND.dot, start, stop, stop);
    }
    let isWord = false;
    if (stop < end && (buf[stop]! | 0x20) === 0x65) {
      stop++;
      if (stop < end && (buf[stop] === 0x2b || buf[stop] === DASH)) stop++;
      const exponent = skip(DIGIT, buf, stop, end);
      isWord = exponent === stop;
      stop = exponent;
    }
    // Oracle's suffix of floats; 1fUNION is 1f UNION to it.
    if (stop < end && ((buf[stop]! | 0x20) === 0x64 || (buf[stop]! | 0x20) === 0x66)) {
      const next = stop + 1 < end ? buf[stop + 1]! : 0x20;
      if (BLANK[next] === 1 || next === 0x3b || (next | 0x20) === 0x75) stop++;
    }
    return give(isWord ? KIND.name : KIND.number, start, stop, stop);
  };

  /** A comment; what servers disagree on (comments in comments, MySQL's that are executed) is evil. */
  const slash = (): SqlToken => {
    if (buf[at + 1] !== STAR || at + 1 >= end) return operator(1);
    const close = findBytes(buf, at + 2, end, COMMENT_CLOSES);
    const stop = close < 0 ? end : close + 2;
    const inner = close < 0 ? -1 : findBytes(buf, at + 2, close + 1, COMMENT_OPENS);
    const isEvil = inner >= 0 || (at + 2 < end && buf[at + 2] === 0x21);
    return give(isEvil ? KIND.evil : KIND.comment, at, stop, stop);
  };

  const dash = (): SqlToken => {
    if (at + 1 >= end || buf[at + 1] !== DASH) return operator(1);
    if (at + 2 >= end || BLANK[buf[at + 2]!] === 1) return lineComment();
    if (isMysql) return operator(1);
    hasDialectComment = true;
    return lineComment();
  };

  const hash = (): SqlToken => {
    hasDialectComment = true;
    return isMysql ? lineComment() : operator(1);
  };

  const symbols = (): SqlToken => {
    if (at + 2 < end && buf[at] === 0x3c && buf[at + 1] === 0x3d && buf[at + 2] === 0x3e) return operator(3);
    const pair = at + 1 < end ? (buf[at]! << 8) | buf[at + 1]! : 0;
    if (LOGIC_PAIRS.has(pair)) return give(KIND.logic, at, at + 2, at + 2);
    if (TWO_CHAR.has(pair)) return operator(2);
    if (buf[at] === 0x3a) return give(KIND.colon, at, at + 1, at + 1);
    return operator(1);
  };

  const read = (byte: number): SqlToken => {
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
        return symbols();
      case 0x7e: // ~
        return operator(1);
      case 0x23: // #
        return hash();
      case DASH:
        return dash();
      case SLASH:
        return slash();
      case SINGLE:
      case DOUBLE:
        return quoted(at + 1, byte, byte);
      case TICK:
        return ticked();
      case DOLLAR:
        return dollar();
      case 0x40: // @
        return variable();
      case 0x28: // (
      case 0x29: // )
      case 0x2c: // ,
      case 0x3b: // ;
      case 0x7b: // {
      case 0x7d: // }
        return give(byte, at, at + 1, at + 1);
      case 0x3f: // ?
      case 0x5d: // ]
        return give(KIND.unknown, at, at + 1, at + 1);
      case 0x5b: {
        // SQL Server's [name].
        const close = findByte(buf, 0x5d, at, end);
        const stop = close < 0 ? end : close + 1;
        return give(KIND.name, at, stop, stop);
      }
      case BACKSLASH:
        // \N is MySQL's null.
        if (at + 1 < end && buf[at + 1] === 0x4e) return give(KIND.number, at, at + 2, at + 2);
        return give(KIND.backslash, at, at + 1, at + 1);
      case 0x42:
      case 0x62: // b
        return digitsText(BIT);
      case 0x58:
      case 0x78: // x
        return digitsText(HEX);
      case 0x45:
      case 0x65: // e
        return prefixed();
      case 0x4e:
      case 0x6e: // n
        return at + 1 < end && buf[at + 1] !== SINGLE ? oracleText(at + 1) : prefixed();
      case 0x51:
      case 0x71: // q
        return oracleText(at);
      case 0x55:
      case 0x75: // u
        if (at + 2 < end && buf[at + 1] === 0x26 && buf[at + 2] === SINGLE) return quoted(at + 3, SINGLE, byte);
        return word();
      default:
        if (DIGIT[byte] === 1 || byte === 0x2e) return number();
        return word();
    }
  };

  return {
    /**
     * Begins with the value bytes[start, stop), taken to stand in a quote (0: in none). To MySQL `#` is a comment, and `--` only before a
     * blank; to the others it is the other way round.
     */
    start(bytes: Uint8Array, start: number, stop: number, quote: number, asMysql: boolean): void {
      buf = bytes;
      at = start;
      end = stop;
      isMysql = asMysql;
      pendingQuote = quote;
      count = 0;
      hasDialectComment = false;
    },
    /** Reads the next token into `into`; false at the end of the value. */
    next(into: SqlToken): boolean {
      token = into;
      if (pendingQuote !== 0) {
        const quote = pendingQuote;
        pendingQuote = 0;
        quoted(at, quote, 0);
        count++;
        return true;
      }
      while (at < end && BLANK[buf[at]!] === 1) at++;
      if (at >= end) return false;
      read(buf[at]!);
      count++;
      return true;
    },
    /** Tokens read of this value so far. */
    tokensRead: (): number => count,
    /** Whether a comment was seen that is one to MySQL alone, or to all but MySQL. */
    hasDialectComment: (): boolean => hasDialectComment,
  };
};

export type SqlLexer = ReturnType<typeof createSqlLexer>;
