import type { SqlLexer } from './lexer.ts';
import { createToken, KIND, type SqlToken } from './token.ts';
import { findPhrase, kindOfWord, wordNumber } from './words.ts';

/** So many tokens tell an attack from text; what comes after them is not read. */
const depth = 5;

const set = (...kinds: number[]): Uint8Array => {
  const flags = new Uint8Array(256);
  for (const kind of kinds) flags[kind] = 1;
  return flags;
};

const { name, number, text, variable, operator, logic, keyword, statement, type, open, close, comma } = KIND;
const SKIPPED_FIRST = set(KIND.comment, open, type);
const OPERAND = set(name, number, text, variable);
const TYPED = set(name, number, text, variable, type, open, KIND.function);
const PHRASE_LEFT = set(keyword, name, operator, KIND.union, KIND.function, statement, KIND.command, type);
const PHRASE_RIGHT = set(keyword, name, operator, KIND.union, KIND.function, statement, KIND.command, type, logic);
const BEFORE_SIGN = set(keyword, statement, KIND.group);
const BEFORE_SIGNED_GROUP = set(statement, KIND.group, comma);
const SIGNED = set(name, number, text, variable, KIND.function);

const [NOT, IN, NOT_IN, USER, ASC, DESC, MINUS, SELECT] = [
  'NOT',
  'IN',
  'NOT IN',
  'USER',
  'ASC',
  'DESC',
  'MINUS',
  'SELECT',
].map(wordNumber);
/** Words that are commands where a statement begins, and anything or nothing elsewhere. */
const BEGINS_STATEMENT = new Set(
  'IF ALTER ATTACH BACKUP BULK COPY CREATE DETACH GRANT PRAGMA REINDEX RENAME REVOKE TRUNCATE VACUUM'
    .split(' ')
    .map(wordNumber),
);
/** What a type of a cast may be: to the dictionary DATE and CHAR are functions, and in double quotes it is a text. */
const CAST_TO = set(type, name, keyword, KIND.function);
/** Further words of types: double precision, timestamp with time zone. */
const REST_OF_TYPE = new Set('PRECISION VARYING WITH WITHOUT TIME ZONE'.split(' ').map(wordNumber));
const CALLABLE_OPERATORS = new Set(['LIKE', 'NOT LIKE', 'GLOB', 'NOT GLOB'].map(wordNumber));
/** Operators that are functions as well, where no operand stands before them. */
const OPERATOR_FUNCTIONS = new Set(['MOD', 'DIV'].map(wordNumber));
const IF_PHRASES = new Set(['IF NOT', 'IF EXISTS', 'IF NOT EXISTS'].map(wordNumber));
/** Names that are functions where a parenthesis follows. */
const CALLABLE = new Set(
  'USER_ID USER_NAME DATABASE PASSWORD USER CURRENT_USER CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP'
    .split(' ')
    .map(wordNumber),
);

const TICK = 0x60;
const DOUBLE_QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const byteOf = (char: string): number => char.charCodeAt(0);
const SIGNS = set(...[...'+-!~'].map(byteOf));
const ARITHMETIC = set(...[...'*/-+%'].map(byteOf));

/** A value reduced to the classes of its first tokens. */
export type Folded = {
  readonly tokens: readonly SqlToken[];
  /** So many of the tokens count. */
  length: number;
  /** The first token behind those that count; undefined where the value ends with them. */
  behind: SqlToken | undefined;
};

/**
 * Reduces what a value says to its outline: operands joined by operators become one operand, lists their first member, signs, casts and doubled
 * parentheses nothing, words that belong together one. Whatever follows the first five that are left is not read.
 */
export const createFolder = (lexer: SqlLexer) => {
  const tokens = Array.from({ length: depth + 2 }, createToken);
  const folded: Folded = { tokens, length: 0, behind: undefined };
  let buf: Uint8Array = new Uint8Array();
  let top = 0;
  /** Behind the type of a cast, or within the parentheses of that type: varchar(5). */
  let cast: 'none' | 'behind type' | 'in parentheses' = 'none';

  const isSign = (token: SqlToken): boolean => {
    if (token.kind !== operator) return false;
    if (token.word !== 0) return token.word === NOT;
    const length = token.end - token.start;
    return length === 1
      ? SIGNS[buf[token.start]!] === 1
      : length === 2 && buf[token.start] === 0x21 && buf[token.start + 1] === 0x21;
  };

  /** Removes the token at `index`; the object is kept for another. */
  const remove = (index: number): true => {
    const removed = tokens[index]!;
    top--;
    for (let at = index; at < top; at++) tokens[at] = tokens[at + 1]!;
    tokens[top] = removed;
    return true;
  };

  /** Removes the last two tokens. */
  const drop = (): true => {
    top -= 2;
    return true;
  };

  const isCast = (token: SqlToken): boolean =>
    token.kind === operator &&
    token.end - token.start === 2 &&
    buf[token.start] === 0x3a &&
    buf[token.start + 1] === 0x3a;

  /** Reduces the last three tokens; false when they stay as they are. */
  const foldThree = (a: SqlToken, b: SqlToken, c: SqlToken): boolean => {
    const left = a.kind;
    const middle = b.kind;
    const right = c.kind;
    if (middle === operator) {
      if (
        isCast(b) &&
        (OPERAND[left] === 1 || left === close) &&
        (CAST_TO[right] === 1 || c.opening === DOUBLE_QUOTE)
      ) {
        // Names on both sides are C++ or PHP: what is in parentheses behind them is theirs.
        if (left !== name || right === type) cast = 'behind type';
        return drop();
      }
      if ((left === number || left === name) && (right === number || right === name)) return drop();
      if (left === variable && (right === variable || right === number || right === name)) return drop();
    }
    if (left === operator && middle !== open && right === operator) return drop();
    if (left === logic && right === logic) return drop();
    if (middle === comma && OPERAND[left] === 1 && OPERAND[right] === 1) return drop();
    if (isSign(b)) {
      if (BEFORE_SIGNED_GROUP[left] === 1 && right === open) return remove(top - 2);
      if (BEFORE_SIGN[left] === 1 && SIGNED[right] === 1) return remove(top - 2);
      if (left === comma && OPERAND[right] === 1) {
        top -= 3;
        return true;
      }
      if (left === comma && right === KIND.function) return remove(top - 2);
    }
    if (middle === KIND.dot && right === name) {
      if (left === name) return drop();
      if (left === statement) return remove(top - 2);
    }
    // USER takes no arguments: with some it is a name.
    if (left === KIND.function && a.word === USER && middle === open && right !== close) a.kind = name;
    return false;
  };

  const foldTwo = (a: SqlToken, b: SqlToken): boolean => {
    const left = a.kind;
    const right = b.kind;
    if (left === right && (left === text || left === KIND.semicolon || left === open || left === close))
      return remove(top - 1);
    if ((left === operator || left === logic) && (right === type || isSign(b))) return remove(top - 1);
    if (left === open && isSign(b)) return remove(top - 1);
    if (a.word !== 0 && b.word !== 0 && PHRASE_LEFT[left] === 1 && PHRASE_RIGHT[right] === 1) {
      const phrase = findPhrase(a.word, b.word);
      if (phrase !== 0) {
        a.word = phrase;
        // IF is a command where a statement begins, also with NOT and EXISTS.
        if (left !== KIND.command || !IF_PHRASES.has(phrase)) a.kind = kindOfWord(phrase);
        a.end = b.end;
        return remove(top - 1);
      }
    }
    if (left === KIND.semicolon && right !== KIND.command && BEGINS_STATEMENT.has(b.word)) {
      b.kind = KIND.command;
      return true;
    }
    if (right === open && (left === name || left === variable) && CALLABLE.has(a.word)) {
      a.kind = KIND.function;
      return true;
    }
    if (left === keyword && (a.word === IN || a.word === NOT_IN)) {
      a.kind = right === open ? operator : name;
      return true;
    }
    if (left === operator && right === open && CALLABLE_OPERATORS.has(a.word)) {
      a.kind = KIND.function;
      return false;
    }
    if (left === operator && right === open && OPERATOR_FUNCTIONS.has(a.word)) {
      const before = top < 3 ? 0 : tokens[top - 3]!.kind;
      if (OPERAND[before] === 0 && before !== close) {
        a.kind = KIND.function;
        return true;
      }
    }
    if (left === type && TYPED[right] === 1) return remove(top - 2);
    if (left === KIND.collate && right === name && buf.subarray(b.start, b.end).includes(0x5f)) {
      b.kind = type;
      return false;
    }
    if (left === KIND.backslash) {
      // SQL Server reads \ as 0 before an operator and passes over it elsewhere.
      if (right === operator && b.end - b.start === 1 && ARITHMETIC[buf[b.start]!] === 1) a.kind = number;
      else remove(top - 2);
      return true;
    }
    if (left === KIND.openBrace && right === name) {
      // MySQL's {``.``.x} has no use but to hide.
      if (b.end === b.start) {
        b.kind = KIND.evil;
        return false;
      }
      return drop();
    }
    // Oracle's EXCEPT; what is less elsewhere.
    if (left === name && a.word === MINUS && b.word === SELECT) {
      a.kind = KIND.union;
      return false;
    }
    // What a list is sorted by, up or down.
    if (right === keyword && (b.word === ASC || b.word === DESC) && OPERAND[left] === 1) return remove(top - 1);
    if (right === KIND.closeBrace) return remove(top - 1);
    return false;
  };

  /** Whether a token belongs to the type that the last operand is cast to, as precision, (5,2) and [] do. */
  const isRestOfType = ({ kind, start, word }: SqlToken): boolean => {
    if (cast === 'behind type') {
      if (REST_OF_TYPE.has(word) || buf[start] === OPEN_BRACKET) return true;
      cast = kind === open ? 'in parentheses' : 'none';
      return kind === open;
    }
    if (kind === number || kind === comma) return true;
    cast = kind === close ? 'behind type' : 'none';
    return kind === close;
  };

  /** Five tokens that are one operand, so that what counts is behind them. */
  const isOneOperand = (): boolean => {
    const [a, b, c, d, e] = [tokens[0]!.kind, tokens[1]!.kind, tokens[2]!.kind, tokens[3]!.kind, tokens[4]!.kind];
    if (c === open && e === close) {
      if (a === number && (b === operator || b === comma) && d === number) return true;
      if (a === name && b === operator && (d === name || d === number)) return true;
    }
    if (b !== close || d !== open) return false;
    return (a === number && c === comma && e === number) || (a === name && c === operator && e === name);
  };

  return (bytes: Uint8Array, start: number, stop: number, quote: number, isMysql: boolean): Folded => {
    buf = bytes;
    top = 0;
    cast = 'none';
    lexer.start(bytes, start, stop, quote, isMysql);
    let hasComment = false;
    for (;;) {
      const token = tokens[top]!;
      if (!lexer.next(token)) break;
      if (token.kind === KIND.comment) {
        hasComment = top > 0;
        continue;
      }
      if (cast !== 'none' && isRestOfType(token)) continue;
      if (top === 0 && (SKIPPED_FIRST[token.kind] === 1 || isSign(token))) continue;
      hasComment = false;
      top++;
      for (;;) {
        if (top >= 3 && foldThree(tokens[top - 3]!, tokens[top - 2]!, tokens[top - 1]!)) continue;
        if (top === depth && isOneOperand()) {
          top = 1;
          continue;
        }
        if (top >= 2 && foldTwo(tokens[top - 2]!, tokens[top - 1]!)) continue;
        break;
      }
      if (top > depth) break;
    }
    folded.length = Math.min(top, depth);
    folded.behind = top > depth ? tokens[depth] : undefined;
    if (hasComment && folded.length < depth) folded.length++;
    // PHP's way of cutting off the rest: MySQL takes a backtick that nothing follows for a comment.
    const last = tokens[folded.length - 1];
    if (
      folded.length > 2 &&
      last?.kind === name &&
      last.opening === TICK &&
      last.closing === 0 &&
      last.end === last.start
    ) {
      last.kind = KIND.comment;
    }
    return folded;
  };
};
