import { describe, expect, test } from 'vitest';
import { compilePattern, createBudget, type PcreFlags } from './index.ts';

/** Match and group texts of a pattern on a Latin-1 text; undefined for a group that took no part; null for no match. */
const groups = (source: string, text: string, flags: Partial<PcreFlags> = {}): (string | undefined)[] | null => {
  const bytes = Buffer.from(`<<${text}>>`, 'latin1');
  const pattern = compilePattern(source, flags);
  const budget = createBudget(10_000_000);
  const found = pattern.exec(bytes, 2, bytes.length - 2, budget);
  expect(pattern.test(bytes, 2, bytes.length - 2, budget)).toBe(found !== null);
  if (found === null) return null;
  const texts: (string | undefined)[] = [];
  for (let slot = 0; slot < found.length; slot += 2) {
    const isSet = found[slot]! >= 0 && found[slot + 1]! >= 0;
    texts.push(isSet ? bytes.subarray(found[slot], found[slot + 1]).toString('latin1') : undefined);
  }
  return texts;
};

describe('compilePattern', () => {
  test.each<[string, string, (string | undefined)[] | null]>([
    ['abc', 'xabcx', ['abc']],
    ['a|ab|abc', 'abc', ['a']],
    ['(?i)select', 'SeLeCt', ['SeLeCt']],
    ['a(?i)b|c', 'C', ['C']],
    ['(?i:a)b', 'AB', null],
    ['(a+)(b+)?', 'aac', ['aa', 'aa', undefined]],
    ['(?:(a)|b)*', 'ab', ['ab', 'a']],
    ['(a*)*', 'b', ['', '']],
    ['(a|b)*?c', 'abc', ['abc', 'b']],
    ['(?<name>x)\\k<name>', 'axx', ['xx', 'x']],
    ['(\\w)\\1', 'hello', ['ll', 'l']],
    ['(?>a+)ab', 'aaab', null],
    ['a++b', 'aab', ['aab']],
    ['foo(?=bar)', 'foobar', ['foo']],
    ['foo(?!bar)', 'foobar foobaz', ['foo']],
    ['(?<=id=)\\d+', 'id=42', ['42']],
    ['(?<!\\d)7', '17 7', ['7']],
    ['\\bor\\b', 'nor or', ['or']],
    ['a{2,3}?', 'aaaa', ['aa']],
    ['x{1000}', 'x'.repeat(1001), ['x'.repeat(1000)]],
    ['^x{1000,}$', 'x'.repeat(999), null],
    ['^x{1000,}$', 'x'.repeat(1000), ['x'.repeat(1000)]],
    ['^x{2,400}$', 'x'.repeat(401), null],
    ['^(?:xy?){400,}$', 'x'.repeat(399), null],
    ['^(?:(?:x{20}){20}){20}$', 'x'.repeat(7999), null],
    ['[[:alpha:]_-]+', '1a-b_c2', ['a-b_c']],
    ['[^]a]', ']ab', ['b']],
    ['\\Qa.b\\E+', 'a.bb', ['a.bb']],
    ['\\x41\\x{42}\\103\\o{104}', 'ABCD', ['ABCD']],
    ['\\s', '\xa0', null],
    ['\\v\\h\\R\\N', '\x0b\t\r\nz', ['\x0b\t\r\nz']],
    ['a{,3}', 'a{,3}', ['a{,3}']],
    ['a b # c', 'ab', null],
    ['(?x) a b # c', 'ab', ['ab']],
    ['x(?#comment)y', 'xy', ['xy']],
    ['[\\xe0-\\xff]', '\xe9', ['\xe9']],
    ['(?i)\\xe9', '\xc9', null],
    ['.', '\n', ['\n']],
    ['^b', 'a\nb', null],
    ['(?m)^b$', 'a\nb\nc', ['b']],
    ['a$', 'a\n', null],
    ['a\\Z', 'a\n', ['a']],
    ['a\\z', 'a\n', null],
  ])('%s on %j gives %j', (source, text, expected) => {
    expect(groups(source, text)).toEqual(expected);
  });

  test('treats the ends of the range as the ends of the text', () => {
    const bytes = Buffer.from('xaby');
    const found = compilePattern('^\\bab\\b$').exec(bytes, 1, 3, createBudget(1000));
    expect(found && [...found]).toEqual([1, 3]);
  });

  test('answers no match, and says so, once the budget is spent', () => {
    const bytes = Buffer.alloc(1000, 0x61);
    const budget = createBudget(500);
    expect(compilePattern('a*b').test(bytes, 0, bytes.length, budget)).toBe(false);
    expect(budget).toEqual({ units: 0, exceeded: true });
  });

  test('stops within its budget on a pattern and text that explode a backtracking matcher', () => {
    const bytes = Buffer.from(`${'a'.repeat(5000)}!`);
    const budget = createBudget(1_000_000);
    expect(compilePattern('(a+)+\\1$').test(bytes, 0, bytes.length, budget)).toBe(false);
    expect(budget.exceeded).toBe(true);
  });
});

describe('a pattern that cannot be used', () => {
  test.each([
    ['a(b', 1, /missing \)/],
    ['a)b', 1, /unmatched \)/],
    ['[a', 0, /missing \]/],
    ['[b-a]', 1, /out of order/],
    ['*a', 0, /nothing to repeat/],
    ['a{3,2}', 1, /out of order/],
    ['\\x{100}', 0, /above 0xff/],
    ['(?R)', 0, /recursion/],
    ['(?1)', 0, /recursion/],
    ['(?|a|b)', 0, /branch reset/],
    ['(?(1)a|b)', 0, /conditional/],
    ['(?C1)', 0, /callouts/],
    ['(*UTF8)a', 1, /verbs/],
    ['a\\Kb', 1, /\\K/],
    ['\\p{L}', 0, /unknown escape/],
    ['(a)\\2', 3, /group 2/],
    ['[[:foo:]]', 1, /POSIX/],
    ['(?<=a+)b', 0, /lookbehind/],
    ['(?:ab{9}c){40000}', 0, /too large/],
  ])('%s is refused at offset %i', (source, offset, message) => {
    expect(() => compilePattern(source)).toThrow(message);
    expect(() => compilePattern(source)).toThrow(expect.objectContaining({ name: 'PatternError', offset }));
  });
});
