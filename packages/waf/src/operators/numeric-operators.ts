import { IS_SPACE } from '../bytes/ascii.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;

/**
 * The decimal number that buf[start, end) begins with after white space and a sign, else 0, like atoi(3). What is larger
 * than 2^53 counts as 2^53: ModSecurity 3 takes it for 0, and so lets a huge length pass for none.
 */
export const parseInteger = (buf: Uint8Array, start: number, end: number): number => {
  let at = start;
  while (at < end && IS_SPACE[buf[at]!] === 1) at++;
  const isNegative = at < end && buf[at] === 0x2d;
  if (isNegative || (at < end && buf[at] === 0x2b)) at++;
  let value = 0;
  for (; at < end; at++) {
    const digit = buf[at]! - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    if (value > LARGEST) value = LARGEST;
  }
  return isNegative ? -value : value;
};

/** Compares the value's number with the argument's. */
export type NumericOperator = (value: number, argument: number) => boolean;

export const NUMERIC_OPERATORS: ReadonlyMap<string, NumericOperator> = new Map([
  ['eq', (value: number, argument: number) => value === argument],
  ['ge', (value: number, argument: number) => value >= argument],
  ['gt', (value: number, argument: number) => value > argument],
  ['le', (value: number, argument: number) => value <= argument],
  ['lt', (value: number, argument: number) => value < argument],
]);
