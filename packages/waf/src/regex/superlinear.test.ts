import { expect, test } from 'vitest';
import { compilePattern } from './index.ts';

test.each([
  ['(a+)+$', /exponentially on "", then "a" many times/],
  ['^(?:a|aa)*b', /exponentially/],
  ['^a*a*a*b', /power [23]/],
  ['\\s+$', /power [12]/],
  ['(?:\\w+\\s?)*;', /exponentially/],
])('warns of %s, with an attack', (source, reason) => {
  expect(compilePattern(source).superlinear).toMatch(reason);
});

test.each(['abc', '^[^"]*"', '^(?:\\s*a)*b', '(?:x|y){2,30}z', '^(?>a+)+$', 'union\\s+select'])(
  'has nothing to say against %s',
  (source) => {
    expect(compilePattern(source).superlinear).toBe(null);
  },
);
