import { expect, test } from 'vitest';
import { lineOf, textOf } from './text-of.ts';

test('a file says the same however its content is written', () => {
  expect(textOf({ name: 'f', content: 'größe' })).toBe('größe');
  expect(textOf({ name: 'f', content: Buffer.from('größe').toString('base64'), encoding: 'base64' })).toBe('größe');
});

test('a line is found by its number, the last one for what is behind the end', () => {
  const text = 'first\n\n  third \nfourth';
  expect([1, 2, 3, 4, 5].map((line) => lineOf(text, line))).toEqual(['first', '', 'third', 'fourth', 'fourth']);
});
