import { findByte, findBytes } from '../../bytes/find-bytes.ts';

/** How reading code ended. */
export const CODE = {
  /** Two operands in a row, a call of a number: no JavaScript. */
  invalid: 0,
  /** The value is over where more code must follow. */
  cut: 1,
  /** The value is over within a text or template that it began, which the page's own quote ends. */
  inText: 2,
  /** The rest is a comment. */
  comment: 3,
  /** A brace closed that was not opened in the value. */
  closed: 4,
} as const;

/** What code of a value was read as: how it ended (CODE), where, and whether it does something: calls, assigns, makes an object. */
export type ReadCode = { readonly how: number; readonly at: number; readonly runs: boolean };

const SINGLE = 0x27;
const DOUBLE = 0x22;
const TICK = 0x60;
const SLASH = 0x2f;
const STAR = 0x2a;
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
const DOT = 0x2e;

const NAME = new Uint8Array(256).fill(1, 0x80);
for (const char of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$\\') NAME[char.charCodeAt(0)] = 1;
const BLANK = new Uint8Array(256);
for (const byte of [0x20, 9, 11, 12]) BLANK[byte] = 1;
const OPERATOR = new Uint8Array(256);
for (const char of '+-*/%&|^<>=!?:~') OPERATOR[char.charCodeAt(0)] = 1;
/** May begin an operand: a sign. */
const SIGN = new Uint8Array(256);
for (const char of '+-!~') SIGN[char.charCodeAt(0)] = 1;
/** Behind one of these an operand may be assigned to; behind other operators it may not. */
const BEGINS_TARGET = new Uint8Array(256);
for (const char of ';,(=?:{}[') BEGINS_TARGET[char.charCodeAt(0)] = 1;

const COMMENT_CLOSES = Buffer.from('*/');
const HTML_COMMENT = Buffer.from('!--');
const longestWord = 10;
/** Words with an operand before and behind them. */
const between = new Set(['in', 'of', 'instanceof']);
/** Words with a condition or the like in parentheses behind them, and a statement behind that. */
const headed = new Set(['if', 'for', 'while', 'with', 'switch', 'catch']);
/** Of the open brackets, the outermost first: whether they are the head of a statement. Deeper ones are taken for none. */
const heads = new Uint8Array(64);
/** Words with an operand behind them. */
const before = new Set('typeof void delete await throw return var let const else do try yield case'.split(' '));

/**
 * Reads buf[start, end) as JavaScript, from behind a text that the value stands in (`expectsOperand` false) or where an expression begins. Only
 * as much of the grammar is known as tells code from prose: operands and operators take turns. Linear; what follows where it ended is not read.
 */
export const readCode = (buf: Uint8Array, start: number, end: number, expectsOperand: boolean): ReadCode => {
  let at = start;
  let expected = expectsOperand;
  /** Whether the last operand is a name, an index or in parentheses: what can be called. The value's own text is not. */
  let isCallable = false;
  let isTarget = false;
  /** The last byte that was no blank, of those that tell whether a target may begin. */
  let previous = expectsOperand ? 0x3b : 0;
  let depth = 0;
  let isHeadNext = false;
  let runs = false;

  const stop = (how: number): ReadCode => ({ how, at, runs });

  /** Behind the closing quote of the text at `at`; -1 when it is not closed. */
  const closing = (quote: number): number => {
    for (let close = at + 1; ; close++) {
      close = findByte(buf, quote, close, end);
      if (close < 0) return -1;
      let backslashes = 0;
      while (close - 1 - backslashes > at && buf[close - 1 - backslashes] === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) return close + 1;
    }
  };

  const isComment = (): boolean => buf[at] === SLASH && at + 1 < end && (buf[at + 1] === SLASH || buf[at + 1] === STAR);
  const isHtmlComment = (): boolean =>
    buf[at] === 0x3c && findBytes(buf, at + 1, Math.min(end, at + 4), HTML_COMMENT) === at + 1;

  for (; at < end; ) {
    const byte = buf[at]!;
    if (BLANK[byte] === 1) {
      at++;
      continue;
    }
    if (byte === 0x0a || byte === 0x0d) {
      // A statement may end here; what is called may not stand on the line before, or all prose would be calls.
      if (!expected) isCallable = false;
      previous = expected ? previous : 0x0a;
      at++;
      continue;
    }
    if (isComment() || isHtmlComment()) {
      const isBlock = byte === SLASH && buf[at + 1] === STAR;
      const close = isBlock ? findBytes(buf, at + 2, end, COMMENT_CLOSES) : findByte(buf, 0x0a, at, end);
      if (close < 0) {
        at = end;
        return stop(CODE.comment);
      }
      at = isBlock ? close + 2 : close;
      continue;
    }
    if (NAME[byte] === 1) {
      const from = at;
      while (at < end && NAME[buf[at]!] === 1) at++;
      const isNumber = byte >= 0x30 && byte <= 0x39;
      const word = at - from > longestWord ? '' : String.fromCharCode(...buf.subarray(from, at));
      if (!expected) {
        if (between.has(word)) {
          expected = true;
          isTarget = false;
          previous = 0;
          continue;
        }
        if (previous !== 0x0a) {
          at = from;
          return stop(CODE.invalid);
        }
      }
      if (word === 'new') {
        runs = true;
        expected = true;
        continue;
      }
      if (before.has(word)) {
        expected = true;
        previous = 0x3b;
        continue;
      }
      isHeadNext = headed.has(word);
      isTarget = !isNumber && (BEGINS_TARGET[previous] === 1 || previous === 0x0a);
      isCallable = !isNumber;
      expected = false;
      previous = 0;
      continue;
    }
    if (byte === SINGLE || byte === DOUBLE || byte === TICK) {
      if (!expected && !(byte === TICK && isCallable)) return stop(CODE.invalid);
      const close = closing(byte);
      if (close < 0) return stop(expected ? CODE.inText : CODE.invalid);
      // A template behind a name is a call.
      if (!expected) runs = true;
      at = close;
      isCallable = !expected;
      isTarget = false;
      expected = false;
      previous = 0;
      continue;
    }
    if (byte === 0x28 || byte === 0x5b || byte === 0x7b) {
      if (!expected) {
        if (byte === 0x28) {
          if (!isCallable) return stop(CODE.invalid);
          if (!isHeadNext) runs = true;
        }
        if (byte === 0x7b && previous !== 0x29 && previous !== 0x0a) return stop(CODE.invalid);
      }
      if (depth < heads.length) heads[depth] = byte === 0x28 && isHeadNext ? 1 : 0;
      isHeadNext = false;
      depth++;
      expected = true;
      isCallable = false;
      previous = byte;
      at++;
      continue;
    }
    if (byte === 0x29 || byte === 0x5d || byte === 0x7d) {
      if (byte === 0x7d && depth <= 0 && expectsOperand) return stop(CODE.closed);
      // What was opened in front of the value is the page's.
      isCallable = byte !== 0x7d && depth > 0;
      if (depth > 0) depth--;
      isTarget = byte === 0x5d;
      // A statement follows a block, and what stands in parentheses behind if, for and the like.
      const isHead = byte === 0x29 && depth < heads.length && heads[depth] === 1;
      expected = byte === 0x7d || isHead;
      previous = isHead ? 0x3b : byte;
      at++;
      continue;
    }
    if (byte === 0x3b || byte === 0x2c) {
      expected = true;
      isCallable = false;
      previous = byte;
      at++;
      continue;
    }
    if (byte === DOT) {
      // A member, or three dots before an operand.
      if (!expected) {
        let next = at + 1;
        while (next < end && BLANK[buf[next]!] === 1) next++;
        const from = next;
        while (next < end && NAME[buf[next]!] === 1) next++;
        if (next === from) return stop(CODE.invalid);
        isCallable = true;
        isTarget = true;
        at = next;
        continue;
      }
      if (buf[at + 1] !== DOT || buf[at + 2] !== DOT) return stop(CODE.invalid);
      at += 3;
      continue;
    }
    if (byte === 0x3f && buf[at + 1] === DOT && !expected) {
      // Optional chaining: ?.name, ?.( and ?.[
      at += 2;
      if (at < end && NAME[buf[at]!] === 1) {
        while (at < end && NAME[buf[at]!] === 1) at++;
        isCallable = true;
      }
      continue;
    }
    if (OPERATOR[byte] === 0) return stop(CODE.invalid);
    if (expected && byte === SLASH) {
      // A regular expression.
      const close = closing(SLASH);
      if (close < 0) return stop(CODE.invalid);
      at = close;
      while (at < end && NAME[buf[at]!] === 1) at++;
      expected = false;
      isCallable = false;
      isTarget = false;
      previous = 0;
      continue;
    }
    if (expected && SIGN[byte] === 0) return stop(CODE.invalid);
    const from = at;
    while (
      at < end &&
      OPERATOR[buf[at]!] === 1 &&
      at - from < 4 &&
      !(at > from && (SIGN[buf[at]!] === 1 || buf[at] === SLASH))
    )
      at++;
    if (buf[at - 1] === EQUALS && !expected && isAssignment(buf, from, at)) {
      if (!isTarget) return stop(CODE.invalid);
      runs = true;
    }
    previous = buf[at - 1]!;
    // a++ and a--
    if (!expected && at === from + 1 && (byte === 0x2b || byte === 0x2d) && buf[at] === byte && isTarget) {
      at++;
      runs = true;
      continue;
    }
    if (!expected) isTarget = false;
    expected = true;
    isCallable = false;
  }
  return stop(CODE.cut);
};

/** Whether an operator that ends with = assigns: =, +=, ||=; not ==, <=, >=, !=. */
function isAssignment(buf: Uint8Array, from: number, to: number): boolean {
  const length = to - from;
  if (length === 1) return true;
  const before = buf[to - 2]!;
  if (before === EQUALS || before === 0x21) return false;
  return length === 3 || (before !== 0x3c && before !== 0x3e);
}
