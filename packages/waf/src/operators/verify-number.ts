import { compilePattern } from '../regex/compile-pattern.ts';
import { OperatorError, type OperatorInstance } from './operator.ts';

type Digits = readonly number[];
type Check = (digits: Digits, text: string) => boolean;

const weighted = (digits: Digits, weights: Digits): number =>
  weights.reduce((sum, weight, index) => sum + weight * digits[index]!, 0);

const isUniform = (digits: Digits): boolean => digits.every((digit) => digit === digits[0]);
const isAscending = (digits: Digits): boolean =>
  digits.every((digit, index) => index === 0 || digit === (digits[index - 1]! + 1) % 10);

/** Payment card: ISO/IEC 7812-1, annex B (Luhn). */
const isCardNumber: Check = (digits) => {
  if (digits.length === 0) return false;
  let sum = 0;
  for (const [index, digit] of digits.toReversed().entries()) {
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
};

const cpfDigit = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));

/** Brazilian CPF: eleven digits, the last two of them checks modulo 11. */
const isCpf: Check = (all) => {
  const digits = all.slice(0, 11);
  if (digits.length < 11 || isUniform(digits) || isAscending(digits)) return false;
  return (
    digits[9] === cpfDigit(weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2])) &&
    digits[10] === cpfDigit(weighted(digits, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]))
  );
};

/** US social security number: nine digits, no field all zero, no area 666 or from 740 on. */
const isSsn: Check = (digits) => {
  if (digits.length !== 9 || isUniform(digits)) return false;
  if (digits.every((digit, index) => index === 0 || digit === digits[index - 1]! + 1)) return false;
  const number = (from: number, to: number): number => Number(digits.slice(from, to).join(''));
  const area = number(0, 3);
  return area > 0 && area !== 666 && area < 740 && number(3, 5) > 0 && number(5, 9) > 0;
};

/** Austrian social insurance number: ten digits, the fourth a check modulo 11. */
const isSvnr: Check = (all) => {
  const digits = all.slice(0, 10);
  if (digits.length < 10 || isUniform(digits) || isAscending(digits)) return false;
  const rest = weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11;
  return digits[3] === (rest === 10 ? 0 : rest);
};

/** Chilean RUT: a number and its check modulo 11, K for ten. */
const isRut: Check = (_, text) => {
  const characters = text.toUpperCase().replace(/[^0-9K]/g, '');
  const body = characters.slice(0, -1);
  if (!/^\d{7,8}$/.test(body)) return false;
  const digits = [...body].map(Number).toReversed();
  const sum = digits.reduce((total, digit, index) => total + digit * (2 + (index % 6)), 0);
  return characters.at(-1) === '0123456789K0'[11 - (sum % 11)];
};

const compileSearch = (name: string, source: string, check: Check): OperatorInstance => {
  if (source === '') throw new OperatorError(`${name} needs a pattern that finds the numbers`);
  // The second pattern puts a group before those of the first, which would shift what \1 means.
  if (/\\[1-9]|\\[gk]/.test(source)) throw new OperatorError(`${name} takes no back-references in its pattern`);
  const compile = (text: string) => {
    try {
      return compilePattern(text);
    } catch (error) {
      throw new OperatorError(`${name}: ${(error as Error).message}`, { cause: error });
    }
  };
  const first = compile(source);
  // Finds the next match that begins behind the range's first byte, so that ^ cannot match there.
  const next = compile(`^[\\s\\S]+?(${source})`);
  return {
    match(buf, start, end, context) {
      let found = start < end ? first.exec(buf, start, end, context.budget) : null;
      let group = 0;
      while (found) {
        const from = found[group * 2]!;
        const to = found[group * 2 + 1]!;
        const digits: number[] = [];
        for (let at = from; at < to; at++) if (buf[at]! >= 0x30 && buf[at]! <= 0x39) digits.push(buf[at]! - 0x30);
        if (check(digits, Buffer.from(buf.subarray(from, to)).toString('latin1'))) {
          if (context.wantsCapture) context.capture(0, buf, from, to);
          return true;
        }
        found = from + 1 < end ? next.exec(buf, from, end, context.budget) : null;
        group = 1;
      }
      return false;
    },
  };
};

export const compileVerifyCc = (argument: string): OperatorInstance =>
  compileSearch('verifyCC', argument, isCardNumber);
export const compileVerifyCpf = (argument: string): OperatorInstance => compileSearch('verifyCPF', argument, isCpf);
export const compileVerifySsn = (argument: string): OperatorInstance => compileSearch('verifySSN', argument, isSsn);
export const compileVerifySvnr = (argument: string): OperatorInstance => compileSearch('verifySVNR', argument, isSvnr);

/** @validateNid of Coraza: a country (`cl`, `us`) and a pattern that finds that country's identity numbers. */
export const compileValidateNid = (argument: string): OperatorInstance => {
  const parts = /^\s*(cl|us)\s+(.+)$/s.exec(argument);
  if (!parts) throw new OperatorError('validateNid needs a country, cl or us, and a pattern');
  return compileSearch('validateNid', parts[2]!, parts[1] === 'cl' ? isRut : isSsn);
};
