import { findByte, findBytes } from '../../bytes/find-bytes.ts';
import { beginCode, CODE, type CodeReading, GOES_ON } from './code.ts';
import { readChaining, readDot, readName, readRegex, readText } from './code-operands.ts';
import { readClosing, readOpening, readOperator, readSeparator } from './code-operators.ts';
import { BLANK, NAME, OPERATOR } from './code-tables.ts';

/** What code of a value was read as: how it ended (CODE), where, and whether it does something: calls, assigns, makes an object. */
export type ReadCode = { readonly how: number; readonly at: number; readonly runs: boolean };

const NEWLINE = 0x0a;
const SINGLE = 0x27;
const DOUBLE = 0x22;
const TICK = 0x60;
const SLASH = 0x2f;
const STAR = 0x2a;
const DOT = 0x2e;
const COMMENT_CLOSES = Buffer.from('*/');
const HTML_COMMENT = Buffer.from('!--');

/**
 * Reads buf[start, end) as JavaScript, from behind a text that the value stands in (`expectsOperand` false) or where an expression begins. Only
 * as much of the grammar is known as tells code from prose: operands and operators take turns. Linear; what follows where it ended is not read.
 */
export const readCode = (buf: Uint8Array, start: number, end: number, expectsOperand: boolean): ReadCode => {
  const reading = beginCode(buf, start, end, expectsOperand);
  let how = GOES_ON;
  while (how === GOES_ON) how = reading.at < end ? readNext(reading) : CODE.cut;
  return { how, at: reading.at, runs: reading.runs };
};

/** Reads blanks, a comment, an operand or an operator; how the code ended (CODE), or GOES_ON. */
const readNext = (reading: CodeReading): number => {
  const { buf, at, isOperandNext } = reading;
  const byte = buf[at]!;
  if (BLANK[byte] === 1) {
    reading.at++;
    return GOES_ON;
  }
  if (byte === NEWLINE || byte === 0x0d) return readLineEnd(reading);
  if (isComment(reading)) return readComment(reading);
  if (NAME[byte] === 1) return readName(reading);
  switch (byte) {
    case SINGLE:
    case DOUBLE:
    case TICK:
      return readText(reading, byte);
    case 0x28: // (
    case 0x5b: // [
    case 0x7b: // {
      return readOpening(reading, byte);
    case 0x29: // )
    case 0x5d: // ]
    case 0x7d: // }
      return readClosing(reading, byte);
    case 0x3b: // ;
    case 0x2c: // ,
      return readSeparator(reading, byte);
    case DOT:
      return readDot(reading);
  }
  if (byte === 0x3f && buf[at + 1] === DOT && !isOperandNext) return readChaining(reading);
  if (OPERATOR[byte] === 0) return CODE.invalid;
  return isOperandNext && byte === SLASH ? readRegex(reading) : readOperator(reading, byte);
};

/** A statement may end here; what is called may not stand on the line before, or all prose would be calls. */
const readLineEnd = (reading: CodeReading): number => {
  if (!reading.isOperandNext) {
    reading.isCallable = false;
    reading.previous = NEWLINE;
  }
  reading.at++;
  return GOES_ON;
};

/** Whether a comment begins here, JavaScript's or HTML's. */
const isComment = ({ buf, at, end }: CodeReading): boolean => {
  if (buf[at] === SLASH) return at + 1 < end && (buf[at + 1] === SLASH || buf[at + 1] === STAR);
  return buf[at] === 0x3c && findBytes(buf, at + 1, Math.min(end, at + 4), HTML_COMMENT) === at + 1;
};

const readComment = (reading: CodeReading): number => {
  const { buf, at, end } = reading;
  const isBlock = buf[at] === SLASH && buf[at + 1] === STAR;
  const close = isBlock ? findBytes(buf, at + 2, end, COMMENT_CLOSES) : findByte(buf, NEWLINE, at, end);
  if (close < 0) {
    reading.at = end;
    return CODE.comment;
  }
  reading.at = isBlock ? close + 2 : close;
  return GOES_ON;
};
