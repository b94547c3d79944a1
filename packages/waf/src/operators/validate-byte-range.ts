import { OperatorError, type OperatorInstance } from './operator.ts';

const byteOf = (text: string, part: string): number => {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 256;
  if (value > 255) throw new OperatorError(`"${part}" is not a byte or range of bytes between 0 and 255`);
  return value;
};

/** @validateByteRange: the value has a byte outside the listed ones (`10,13,32-126`); an empty list allows none. */
export const compileValidateByteRange = (argument: string): OperatorInstance => {
  const isAllowed = new Uint8Array(256);
  for (const part of argument.trim() === '' ? [] : argument.split(',')) {
    const [first = '', last = first, ...rest] = part.split('-').map((text) => text.trim());
    const from = byteOf(first, part.trim());
    const to = byteOf(last, part.trim());
    if (rest.length > 0 || from > to) throw new OperatorError(`"${part.trim()}" is not a range of bytes`);
    isAllowed.fill(1, from, to + 1);
  }
  return {
    match(buf, start, end) {
      for (let at = start; at < end; at++) if (isAllowed[buf[at]!] === 0) return true;
      return false;
    },
  };
};
