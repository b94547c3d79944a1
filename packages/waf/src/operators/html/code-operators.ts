import { CODE, type CodeReading, GOES_ON } from './code.ts';
import { BLANK, OPERATOR, SIGN } from './code-tables.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SEMICOLON = 0x3b;
const OPEN = 0x28;
const CLOSE = 0x29;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const EQUALS = 0x3d;
const SLASH = 0x2f;
const PLUS = 0x2b;
const MINUS = 0x2d;

/** Of the open brackets, the outermost first: whether they are the head of a statement. Deeper ones are taken for none. */
const heads = new Uint8Array(64);

/** Whether there are only blanks between the text that the value stands in and here. */
const isBehindOwnText = ({ buf, start, at, beganWithOperand }: CodeReading): boolean => {
  let behind = start;
  while (behind < at && (BLANK[buf[behind]!] === 1 || buf[behind] === NEWLINE || buf[behind] === RETURN)) behind++;
  return behind === at && !beganWithOperand;
};

/** Reads an opening bracket of any kind: a call, an index, a block, an object. */
export const readOpening = (reading: CodeReading, byte: number): number => {
  const { depth, previous } = reading;
  if (!reading.isOperandNext) {
    if (byte === OPEN) {
      // A text that is called is a mistake, but what it is called with is worked out before.
      if (reading.isCallable) reading.runs ||= !reading.isHeadNext;
      else if (!isBehindOwnText(reading)) return CODE.invalid;
    }
    if (byte === OPEN_BRACE && previous !== CLOSE && previous !== NEWLINE) return CODE.invalid;
  }
  if (depth < heads.length) heads[depth] = byte === OPEN && reading.isHeadNext ? 1 : 0;
  reading.isHeadNext = false;
  reading.depth++;
  reading.isOperandNext = true;
  reading.previous = byte;
  reading.at++;
  return GOES_ON;
};

/** Reads a closing bracket of any kind. What was opened in front of the value is the page's. */
export const readClosing = (reading: CodeReading, byte: number): number => {
  if (byte === CLOSE_BRACE && reading.depth <= 0 && reading.beganWithOperand) return CODE.closed;
  reading.isCallable = byte !== CLOSE_BRACE && reading.depth > 0;
  if (reading.depth > 0) reading.depth--;
  reading.isTarget = byte === CLOSE_BRACKET;
  // A statement follows a block, and what stands in parentheses behind if, for and the like.
  const isHead = byte === CLOSE && reading.depth < heads.length && heads[reading.depth] === 1;
  reading.isOperandNext = byte === CLOSE_BRACE || isHead;
  reading.previous = isHead ? SEMICOLON : byte;
  reading.at++;
  return GOES_ON;
};

/** Reads a semicolon or a comma. */
export const readSeparator = (reading: CodeReading, byte: number): number => {
  reading.isOperandNext = true;
  reading.previous = byte;
  reading.at++;
  return GOES_ON;
};

/** Reads an operator between operands, a sign before one, or ++ and -- behind one. */
export const readOperator = (reading: CodeReading, byte: number): number => {
  const { buf, end, at: from, isOperandNext } = reading;
  if (isOperandNext && SIGN[byte] === 0) return CODE.invalid;
  let at = from;
  while (
    at < end &&
    OPERATOR[buf[at]!] === 1 &&
    at - from < 4 &&
    !(at > from && (SIGN[buf[at]!] === 1 || buf[at] === SLASH))
  )
    at++;
  reading.at = at;
  if (buf[at - 1] === EQUALS && !isOperandNext && isAssignment(buf, from, at)) {
    if (!reading.isTarget) return CODE.invalid;
    reading.runs = true;
  }
  reading.previous = buf[at - 1]!;
  // a++ and a--
  if (!isOperandNext && at === from + 1 && (byte === PLUS || byte === MINUS) && buf[at] === byte && reading.isTarget) {
    reading.at++;
    reading.runs = true;
    return GOES_ON;
  }
  reading.isOperandNext = true;
  return GOES_ON;
};

/** Whether an operator that ends with = assigns: =, +=, ||=; not ==, <=, >=, !=. */
const isAssignment = (buf: Uint8Array, from: number, to: number): boolean => {
  const length = to - from;
  if (length === 1) return true;
  const before = buf[to - 2]!;
  if (before === EQUALS || before === 0x21) return false;
  return length === 3 || (before !== 0x3c && before !== 0x3e);
};
