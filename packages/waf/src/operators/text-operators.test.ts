import { expect, test } from 'vitest';
import type { OperatorContext } from './operator.ts';
import { OperatorError } from './operator.ts';
import { compileOperator } from './registry.ts';

const env = {
  readFile: () => {
    throw new Error('there are no files');
  },
};
const captured: string[] = [];
const context: OperatorContext = {
  wantsCapture: true,
  budget: { units: 1_000_000, exceeded: false },
  capture: (_, buf, start, end) => captured.push(Buffer.from(buf.subarray(start, end)).toString('latin1')),
  geo: () => undefined,
};

/** Looks at a value between others: what stands beside it must make no difference. */
const run = (name: string, argument: string, value: string, beside = ['', '']): boolean => {
  const buf = Buffer.from(`${beside[0]}${value}${beside[1]}`, 'latin1');
  return compileOperator(name, argument, env).match(buf, beside[0]!.length, buf.length - beside[1]!.length, context);
};

test.each<[string, string, string, boolean]>([
  ['streq', 'ab', 'ab', true],
  ['streq', 'ab', 'abc', false],
  ['streq', 'ab', 'a', false],
  ['streq', 'ab', 'aB', false],
  ['streq', '', '', true],
  ['beginsWith', 'ab', 'abc', true],
  ['beginsWith', 'ab', 'xab', false],
  ['beginsWith', 'ab', 'a', false],
  ['beginsWith', '', 'a', true],
  ['endsWith', 'bc', 'abc', true],
  ['endsWith', 'bc', 'bcd', false],
  ['endsWith', 'bc', 'c', false],
  ['contains', 'b\xe9', 'ab\xe9c', true],
  ['contains', 'bd', 'abcd', false],
  ['contains', 'a', '', false],
  ['strmatch', 'bc', 'abcd', true],
  ['strmatch', 'bc', 'abd', false],
  ['within', 'GET POST', 'POST', true],
  ['within', 'GET POST', 'PUT', false],
  ['within', 'GET POST', 'post', false],
  ['within', 'GET', '', true],
  ['containsWord', 'ab', 'ab', true],
  ['containsWord', 'ab', 'x ab', true],
  ['containsWord', 'ab', '1ab_', true],
  ['containsWord', 'ab', 'xab', false],
  ['containsWord', 'ab', 'abz', false],
  ['containsWord', 'ab', 'Aab', false],
  ['containsWord', 'ab', 'abZ', false],
  ['containsWord', 'ab', '@ab[', true],
  ['containsWord', 'ab', '`ab{', true],
  ['containsWord', 'ab', '\xe1ab\xfa', true],
  ['containsWord', 'ab', 'xab ab', true],
  ['containsWord', '', 'x', true],
  ['eq', '5', ' 5x', true],
  ['eq', '5', '+5', true],
  ['eq', '-5', '-5', true],
  ['eq', '0', 'x5', true],
  ['eq', '0', '', true],
  ['eq', '0', '-', true],
  ['eq', '5', '-5', false],
  ['eq', '5', '50', false],
  ['ge', '5', '5', true],
  ['ge', '5', '4', false],
  ['gt', '5', '6', true],
  ['gt', '5', '5', false],
  ['le', '5', '5', true],
  ['le', '5', '6', false],
  ['lt', '5', '4', true],
  ['lt', '5', '5', false],
  ['gt', '9007199254740990', '99999999999999999999999999', true],
  ['eq', '9007199254740991', '99999999999999999999999999', true],
  ['unconditionalMatch', '', '', true],
  ['noMatch', '', 'x', false],
  ['validateByteRange', '32-126', 'a b', false],
  ['validateByteRange', '32-126', 'a\x1f', true],
  ['validateByteRange', '32-126', '\x7f', true],
  ['validateByteRange', '32-126', ' ~', false],
  ['validateByteRange', ' 10 , 13, 255 ', '\n\r\xff', false],
  ['validateByteRange', '10,13', '\x0b', true],
  ['validateByteRange', '0-255', '\0\xff', false],
  ['validateByteRange', ' ', 'a', true],
  ['validateByteRange', '', '', false],
  ['validateUrlEncoding', '', 'a%41%fF', false],
  ['validateUrlEncoding', '', '', false],
  ['validateUrlEncoding', '', '%', true],
  ['validateUrlEncoding', '', 'a%4', true],
  ['validateUrlEncoding', '', '%4g', true],
  ['validateUrlEncoding', '', '%g4', true],
  ['validateUrlEncoding', '', '%%41', true],
  ['validateUtf8Encoding', '', 'plain', false],
  ['validateUtf8Encoding', '', '\xc2\x80\xdf\xbf', false],
  ['validateUtf8Encoding', '', '\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xe1\xbf\xbf', false],
  ['validateUtf8Encoding', '', '\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xf1\xbf\xbf\xbfa', false],
  ['validateUtf8Encoding', '', '\x80', true],
  ['validateUtf8Encoding', '', '\xc1\xbf', true],
  ['validateUtf8Encoding', '', '\xc2', true],
  ['validateUtf8Encoding', '', '\xc2a', true],
  ['validateUtf8Encoding', '', '\xc2\xc0', true],
  ['validateUtf8Encoding', '', '\xe0\x9f\xbf', true],
  ['validateUtf8Encoding', '', '\xe1\x80', true],
  ['validateUtf8Encoding', '', '\xe1\x80a', true],
  ['validateUtf8Encoding', '', '\xed\xa0\x80', true],
  ['validateUtf8Encoding', '', '\xf0\x8f\xbf\xbf', true],
  ['validateUtf8Encoding', '', '\xf1\x80\x80', true],
  ['validateUtf8Encoding', '', '\xf4\x90\x80\x80', true],
  ['validateUtf8Encoding', '', '\xf5\x80\x80\x80', true],
  ['detectSQLi', '', "1' or 1=1-- ", true],
  ['detectSQLi', '', 'plain words', false],
  ['detectXSS', '', '<script>alert(1)</script>', true],
  ['detectXSS', '', 'plain words', false],
])('@%s %j on %j: %s', (name, argument, value, expected) => {
  expect(run(name, argument, value)).toBe(expected);
  for (const beside of [
    [' ', ' '],
    ['%', '41'],
    ['b', 'bc'],
    ['9', '9'],
    ['\xc2', '\x80'],
  ])
    expect([beside, run(name, argument, value, beside)]).toEqual([beside, expected]);
});

test.each([
  ['validateByteRange', '256'],
  ['validateByteRange', '1-2-3'],
  ['validateByteRange', '9-8'],
  ['validateByteRange', '1,'],
  ['validateByteRange', '-1'],
  ['validateByteRange', '0x10'],
  ['validateByteRange', '1e1'],
  ['rbl', 'nodots'],
  ['rbl', 'a..b'],
])('@%s does not take %j', (name, argument) => {
  const problem = { name: 'OperatorError', message: expect.stringContaining(`"${argument.split(',').at(-1)}"`) };
  expect(() => compileOperator(name, argument, env)).toThrow(OperatorError);
  expect(() => compileOperator(name, argument, env)).toThrow(expect.objectContaining(problem));
});

test('what finds injection captures it, and takes from the budget as much as there is to read', () => {
  const before = context.budget.units;
  captured.length = 0;
  run('detectXSS', '', '<script>x', ['..', '..']);
  run('detectSQLi', '', "1' or 1=1-- ", ['..', '..']);
  expect(captured).toEqual(['<script>x', expect.stringMatching(/^[a-zA-Z0-9&()]{2,8}$/)]);
  expect(before - context.budget.units).toBeGreaterThanOrEqual(2 * ('<script>x'.length + "1' or 1=1-- ".length));
});

test('what needs the world finds nothing without it, and reads a name with blanks around it', () => {
  const address = Buffer.from('192.0.2.1');
  const blockList = (zone: string) => zone === 'list.example';
  const found = (name: string, argument: string, world: object) =>
    compileOperator(name, argument, { ...env, ...world }).match(address, 0, address.length, context);
  expect(found('rbl', ' list.example ', { blockList })).toBe(true);
  expect(found('rbl', 'list.example', {})).toBe(false);
  expect(found('geoLookup', '', { geo: () => ({ COUNTRY_CODE: 'FR' }) })).toBe(true);
  expect(found('geoLookup', '', {})).toBe(false);
});
