import { findBytes, occurrences } from '../bytes/find-bytes.ts';

/** Compares an argument, all of it, with the value buf[start, end). */
export type TextOperator = (argument: Uint8Array, buf: Uint8Array, start: number, end: number) => boolean;

const equalsAt = (argument: Uint8Array, buf: Uint8Array, at: number): boolean => {
  for (let i = 0; i < argument.length; i++) if (buf[at + i] !== argument[i]) return false;
  return true;
};

export const streq: TextOperator = (argument, buf, start, end) =>
  end - start === argument.length && equalsAt(argument, buf, start);

export const beginsWith: TextOperator = (argument, buf, start, end) =>
  end - start >= argument.length && equalsAt(argument, buf, start);

export const endsWith: TextOperator = (argument, buf, start, end) =>
  end - start >= argument.length && equalsAt(argument, buf, end - argument.length);

export const contains: TextOperator = (argument, buf, start, end) => findBytes(buf, start, end, argument) >= 0;

/** True when the value occurs in the argument; an empty value always does. */
export const within: TextOperator = (argument, buf, start, end) =>
  findBytes(argument, 0, argument.length, buf, start, end) >= 0;

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a && byte < 0x80;

/** contains, where no ASCII letter may stand next to the found text; digits and underscores may, as in ModSecurity 3. */
export const containsWord: TextOperator = (argument, buf, start, end) => {
  const size = argument.length;
  if (size === 0) return true;
  for (const found of occurrences(buf, start, end, argument)) {
    const isOpen = found === start || !isLetter(buf[found - 1]!);
    if (isOpen && (found + size === end || !isLetter(buf[found + size]!))) return true;
  }
  return false;
};
