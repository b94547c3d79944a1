import { skipTo, VARIABLE_END, WORD_END } from './byte-sets.ts';
import { afterBlanks } from './comments.ts';
import { give, type SqlCursor } from './cursor.ts';
import { readQuoted } from './quoted.ts';
import { KIND, type SqlToken } from './token.ts';
import { findWord, kindOfWord, wordNumber } from './words.ts';

const SINGLE = 0x27;
const DOUBLE = 0x22;
const TICK = 0x60;
const DOT = 0x2e;
const OPEN = 0x28;

/** Functions that are the type of a text which follows: date '2020-01-01'. */
const LITERAL_TYPES = new Set(['DATE', 'TIMESTAMP', 'INTERVAL'].map(wordNumber));

/** SQL Server's command has a condition behind it, with or without parentheses. */
const IF = wordNumber('IF');

/** No word or part of a phrase that we know is longer, bytes. */
const LONGEST_WORD = 32;

/** What a function's name is: that of a column where no parenthesis follows, the type of a text where one does. */
const kindOfName = (cursor: SqlCursor, found: number, stop: number): number => {
  const kind = kindOfWord(found);
  if (kind !== KIND.function || found === IF) return kind;
  const { buf, end } = cursor;
  const behind = afterBlanks(cursor, stop);
  if (behind < end && buf[behind] === OPEN) return kind;
  return behind < end && buf[behind] === SINGLE && LITERAL_TYPES.has(found) ? KIND.type : KIND.name;
};

/** Reads a word of SQL or a name. */
export const readWord = (cursor: SqlCursor): SqlToken => {
  const { buf, at: start, end, token } = cursor;
  const limit = Math.min(end, start + LONGEST_WORD);
  let cut = start;
  // What stands before a dot or a backtick may be a word of its own: SELECT.1, SELECT`x`. It is looked for before the end
  // is: neither ends a name, so that a text full of them would be read to its end over and over.
  for (; cut < limit && WORD_END[buf[cut]!] === 0; cut++) {
    if (cut === start || (buf[cut] !== DOT && buf[cut] !== TICK)) continue;
    const found = findWord(buf, start, cut);
    if (found === 0 || kindOfWord(found) === KIND.name) continue;
    give(cursor, kindOfWord(found), start, cut, cut);
    token.word = found;
    return token;
  }
  const stop = skipTo(WORD_END, buf, cut, end);
  give(cursor, KIND.name, start, stop, stop);
  token.word = findWord(buf, start, stop);
  if (token.word !== 0) token.kind = kindOfName(cursor, token.word, stop);
  return token;
};

/** Reads a name in backticks. */
export const readTicked = (cursor: SqlCursor): SqlToken => {
  readQuoted(cursor, cursor.at + 1, TICK, TICK);
  const { token } = cursor;
  token.word = findWord(cursor.buf, token.start, token.end);
  token.kind = kindOfWord(token.word) === KIND.function ? kindOfName(cursor, token.word, cursor.at) : KIND.name;
  return token;
};

/** Reads @variable, @@variable and those with quotes behind the sign. */
export const readVariable = (cursor: SqlCursor): SqlToken => {
  const { buf, end } = cursor;
  let start = cursor.at + 1;
  if (start < end && buf[start] === 0x40) start++;
  const quote = start < end ? buf[start]! : 0;
  if (quote === SINGLE || quote === DOUBLE || quote === TICK) {
    readQuoted(cursor, start + 1, quote, quote);
    cursor.token.kind = KIND.variable;
    return cursor.token;
  }
  const stop = skipTo(VARIABLE_END, buf, start, end);
  return give(cursor, KIND.variable, start, stop, stop);
};
