const flags = (chars: string): Uint8Array => {
  const set = new Uint8Array(256);
  for (let at = 0; at < chars.length; at++) set[chars.charCodeAt(at)] = 1;
  return set;
};

/** Bytes of names and numbers. */
export const NAME = flags('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$\\').fill(1, 0x80);
/** Blanks within a line. */
export const BLANK = flags(' \t\v\f');
export const OPERATOR = flags('+-*/%&|^<>=!?:~');
/** May begin an operand: a sign. */
export const SIGN = flags('+-!~');
/** Behind one of these an operand may be assigned to; behind other operators it may not. */
export const BEGINS_TARGET = flags(';,(=?:{}[');
