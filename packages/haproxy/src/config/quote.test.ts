import { expect, test } from 'vitest';
import { quote } from './quote.ts';

test.each(['/run/a.sock', 'ring@x', '::1', 'a_b-c,d=+'])('%s needs no quotes', (word) => {
  expect(quote(word)).toBe(word);
});

test.each(['', 'a b', ' ', '#a', 'a"', '$HOME', 'a\\', '%[src]', 'a;b', '{', '/run/ä.sock'])('%j is quoted', (text) => {
  expect(quote(text)).toBe(`'${text}'`);
});
