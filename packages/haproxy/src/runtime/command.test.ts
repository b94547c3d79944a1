import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeCommand, encodeCommand } from './command.ts';

test('words and payload become one command', () => {
  expect(encodeCommand({ words: ['show', 'info'] })).toBe('show info\n');
  expect(encodeCommand({ words: ['add', 'map', 'm'], payload: ['a 1', 'b 2'] })).toBe('add map m <<\na 1\nb 2\n\n');
});

test.each(['', ' ', 'a b', 'a;b', 'a\nb', 'a\\b', '<<', 'a<<', 'é', '\0'])('%j is not a word', (word) => {
  expect(() => encodeCommand({ words: ['add', word] })).toThrow(/not a command word/);
});

test('a word has an end', () => {
  expect(encodeCommand({ words: ['a'.repeat(4_096)] })).toHaveLength(4_097);
  expect(() => encodeCommand({ words: ['show', 'a'.repeat(4_097)] })).toThrow(/^not a command word: "a{80}"$/);
});

test('of a command errors show the beginning of its words, and nothing of its payload', () => {
  const words = ['set', 'ssl', 'cert', 'a', 'b', 'c'];
  expect(describeCommand({ words, payload: ['-----BEGIN PRIVATE KEY-----'] })).toBe('set ssl cert a b');
  expect(describeCommand({ words: ['x'.repeat(300)] })).toBe('x'.repeat(200));
});

test.each([[[]], [['']], [['a', '', 'b']], [['a\nb']], [['a\r']], [['\0']]])('%j is not a payload', (payload) => {
  expect(() => encodeCommand({ words: ['add'], payload })).toThrow(/payload/);
});

test('a word never becomes a second command, argument or payload', () => {
  fc.assert(
    fc.property(fc.string(), (word) => {
      let text: string;
      try {
        text = encodeCommand({ words: ['del', 'map', word] });
      } catch {
        return;
      }
      expect(text).toMatch(/^del map [^\s;\\]+\n$/);
    }),
  );
});
