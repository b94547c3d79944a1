import { findByte } from '../../bytes/find-bytes.ts';
import { CODE, type CodeReading, GOES_ON } from './code.ts';
import { BEGINS_TARGET, BLANK, NAME } from './code-tables.ts';

const NEWLINE = 0x0a;
const SEMICOLON = 0x3b;
const TICK = 0x60;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const SLASH = 0x2f;

const longestWord = 10;
/** Words with an operand before and behind them. */
const between = new Set(['in', 'of', 'instanceof']);
/** Words with a condition or the like in parentheses behind them, and a statement behind that. */
const headed = new Set(['if', 'for', 'while', 'with', 'switch', 'catch']);
/** Words with an operand behind them. */
const before = new Set('typeof void delete await throw return var let const else do try yield case'.split(' '));

/** Goes behind the bytes of a name. */
const skipName = (reading: CodeReading): void => {
  const { buf, end } = reading;
  let { at } = reading;
  while (at < end && NAME[buf[at]!] === 1) at++;
  reading.at = at;
};

/** Behind the closing quote of the text at `at`; -1 when it is not closed. */
const closingOf = ({ buf, at, end }: CodeReading, quote: number): number => {
  for (let close = at + 1; ; close++) {
    close = findByte(buf, quote, close, end);
    if (close < 0) return -1;
    let backslashes = 0;
    while (close - 1 - backslashes > at && buf[close - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return close + 1;
  }
};

/** Reads a name, a number or a word of the language. */
export const readName = (reading: CodeReading): number => {
  const { buf, at: from, previous } = reading;
  skipName(reading);
  const isNumber = buf[from]! >= 0x30 && buf[from]! <= 0x39;
  const word = reading.at - from > longestWord ? '' : String.fromCharCode(...buf.subarray(from, reading.at));
  if (!reading.isOperandNext) {
    if (between.has(word)) {
      reading.isOperandNext = true;
      reading.previous = 0;
      return GOES_ON;
    }
    if (previous !== NEWLINE) {
      reading.at = from;
      return CODE.invalid;
    }
  }
  if (word === 'new') {
    reading.runs = true;
    reading.isOperandNext = true;
    return GOES_ON;
  }
  if (before.has(word)) {
    reading.isOperandNext = true;
    reading.previous = SEMICOLON;
    return GOES_ON;
  }
  reading.isHeadNext = headed.has(word);
  reading.isTarget = !isNumber && (BEGINS_TARGET[previous] === 1 || previous === NEWLINE);
  reading.isCallable = !isNumber;
  reading.isOperandNext = false;
  reading.previous = 0;
  return GOES_ON;
};

/** Reads a text or a template; a template behind a name is a call. */
export const readText = (reading: CodeReading, quote: number): number => {
  const { isOperandNext, isCallable } = reading;
  if (!isOperandNext && !(quote === TICK && isCallable)) return CODE.invalid;
  const close = closingOf(reading, quote);
  if (close < 0) return isOperandNext ? CODE.inText : CODE.invalid;
  if (!isOperandNext) reading.runs = true;
  reading.at = close;
  reading.isCallable = !isOperandNext;
  reading.isTarget = false;
  reading.isOperandNext = false;
  reading.previous = 0;
  return GOES_ON;
};

/** Reads a regular expression. */
export const readRegex = (reading: CodeReading): number => {
  const close = closingOf(reading, SLASH);
  if (close < 0) return CODE.invalid;
  reading.at = close;
  skipName(reading);
  reading.isOperandNext = false;
  reading.isCallable = false;
  reading.isTarget = false;
  reading.previous = 0;
  return GOES_ON;
};

/** Reads a member, or three dots before an operand. */
export const readDot = (reading: CodeReading): number => {
  const { buf, at, end } = reading;
  if (reading.isOperandNext) {
    if (buf[at + 1] !== DOT || buf[at + 2] !== DOT) return CODE.invalid;
    reading.at = at + 3;
    return GOES_ON;
  }
  let from = at + 1;
  while (from < end && BLANK[buf[from]!] === 1) from++;
  if (from >= end || NAME[buf[from]!] === 0) return CODE.invalid;
  reading.at = from;
  skipName(reading);
  reading.isCallable = true;
  reading.isTarget = true;
  return GOES_ON;
};

/** Reads optional chaining: ?.name, ?.( and ?.[ */
export const readChaining = (reading: CodeReading): number => {
  const from = reading.at + 2;
  reading.at = from;
  skipName(reading);
  if (reading.at > from) reading.isCallable = true;
  return GOES_ON;
};
