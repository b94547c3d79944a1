import { describe, expect, test } from 'vitest';
import { compilePattern, createBudget, type PcreFlags, passesGate } from './index.ts';
import { spend } from './work-budget.ts';

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
    ['a\\Z', 'a', ['a']],
    ['a\\Z', 'a\nb', null],
    ['a\\Z', 'a\n\n', null],
    ['a\\Bb', 'ab', ['ab']],
    ['-\\B-', '--', ['--']],
    ['a\\B-', 'a-', null],
    ['(?i)(a)\\1', 'aA', ['aA', 'a']],
    ['(?i)(a)\\1', 'ab', null],
    ['', 'x', ['']],
    ['(?:a|)b', 'b', ['b']],
    ['()x', 'ax', ['x', '']],
    ['(?:ab)+c', 'xababc', ['ababc']],
    ['x(?:a|bc){2}d', 'axabcd', ['xabcd']],
    ['(?:(?:a|b)*c?)*d', 'abcabd', ['abcabd']],
    ['(?:(?=a)a|b){2}', 'ba', ['ba']],
    ['(?i)a(?-i)b', 'AB', null],
    ['(?i)a(?-i)b', 'Ab', ['Ab']],
    ['(?i)a(?^)b', 'AB', null],
    ['(?i)(?^:a)b', 'aB', ['aB']],
    ['(?^).', '\n', null],
    ['(?-s).', '\n', null],
    ['(?m)(?^)^b', 'a\nb', null],
    ['(?x)(?^) b', 'b', null],
    ['(?n)(?^)(b)', 'b', ['b', 'b']],
    ['(?n)(a)(?<x>b)', 'ab', ['ab', 'b']],
    ['(?U)a+', 'aaa', ['a']],
    ['(?U)a+?', 'aaa', ['aaa']],
    ['[\\Qa-c\\E0-9]+', 'ba-c7E\\', ['a-c7']],
    ['[\\E-z]+', 'b-z', ['-z']],
    ['(a)\\g1', 'aa', ['aa', 'a']],
    ['(a)\\g{1}', 'aa', ['aa', 'a']],
    ['(a)(b)\\g{-1}', 'aba abb', ['abb', 'a', 'b']],
    ['(?<n>a)\\g{n}', 'aa', ['aa', 'a']],
    ["(?<n>a)\\k'n'\\k{n}(?P=n)", 'aaaa', ['aaaa', 'a']],
    ['(?<!\\d)7', '17', null],
    ['(?<!ab)7', 'ab7', null],
    ['(?<!ab)7', 'cb7', ['7']],
    ['(?<=ab|c)7', 'c7', ['7']],
    ['(?<=ab|c)7', 'b7', null],
    ['(?<=(?:a|b){2})7', 'a7 ba7', ['7']],
  ])('%s on %j gives %j', (source, text, expected) => {
    expect(groups(source, text)).toEqual(expected);
  });

  /** Bytes, in the words of JavaScript's own patterns, which have no such classes but the same sets. */
  test.each<[source: string, bytes: RegExp]>([
    ['[[:alnum:]]', /[0-9A-Za-z]/],
    ['[[:alpha:]]', /[A-Za-z]/],
    ['[[:ascii:]]', /[\0-\x7f]/],
    ['[[:blank:]]', /[ \t]/],
    ['[[:cntrl:]]', /[\0-\x1f\x7f]/],
    ['[[:digit:]]', /[0-9]/],
    ['[[:graph:]]', /[!-~]/],
    ['[[:lower:]]', /[a-z]/],
    ['[[:print:]]', /[ -~]/],
    ['[[:punct:]]', /[!-/:-@[-`{-~]/],
    ['[[:space:]]', /[\t-\r ]/],
    ['[[:upper:]]', /[A-Z]/],
    ['[[:word:]]', /[0-9A-Z_a-z]/],
    ['[[:xdigit:]]', /[0-9A-Fa-f]/],
    ['[[:^digit:]]', /[^0-9]/],
    ['(?i)[[:upper:]]', /[A-Za-z]/],
    ['\\d', /[0-9]/],
    ['\\D', /[^0-9]/],
    ['\\h', /[ \t\xa0]/],
    ['\\H', /[^ \t\xa0]/],
    ['\\s', /[\t-\r ]/],
    ['\\S', /[^\t-\r ]/],
    ['\\v', /[\n-\r\x85]/],
    ['\\V', /[^\n-\r\x85]/],
    ['\\w', /[0-9A-Z_a-z]/],
    ['\\W', /[^0-9A-Z_a-z]/],
    ['\\N', /[^\n]/],
    ['[\\w-]', /[0-9A-Z_a-z-]/],
    ['[a-\\d]', /[-0-9a]/],
    ['[\\b]', /[\x08]/],
    ['\\a|\\e|\\f|\\t|\\cA|\\cz', /[\x07\x1b\f\t\x01\x1a]/],
  ])('%s takes the bytes of %s', (source, bytes) => {
    const pattern = compilePattern(source);
    for (let byte = 0; byte < 256; byte++) {
      const isFound = pattern.test(Uint8Array.of(byte), 0, 1, createBudget(1000));
      expect(isFound, `byte ${byte}`).toBe(bytes.test(String.fromCharCode(byte)));
    }
  });

  const nine = '(a)'.repeat(9);
  test.each(['(b)', '(?<n>b)', "(?'n'b)", '(?P<n>b)', '[[](b)'])(
    'behind %s there is a tenth group to refer to',
    (tenth) => {
      const text = `aaaaaaaaa${tenth.startsWith('[') ? '[' : ''}b`;
      expect(groups(`${nine}${tenth}\\10`, `${text}b`)?.[0]).toBe(`${text}b`);
      expect(groups(`${nine}${tenth}\\10`, `${text}\b`)).toBe(null);
    },
  );
  test.each(['\\(', '[(]', '[](]', '[^](]', '[\\](]', '(?:[(])', '(?=[(])[(]', '(?<=a)[(]', '(?<!b)[(]', '(?i)[(]'])(
    'behind %s there are nine groups, and \\10 is a byte',
    (item) => {
      const bracket = item === '[^](]' ? 'x' : '(';
      expect(groups(`${nine}${item}\\10`, `aaaaaaaaa${bracket}\b`)?.[0]).toBe(`aaaaaaaaa${bracket}\b`);
    },
  );

  test.each<[source: string, isRegular: boolean, minLength: number]>([
    ['a{2,3}b?(c|dd)', true, 3],
    ['(?:ab){2,}', true, 4],
    ['a{300}', true, 300],
    ['a{301}', false, 301],
    ['a{65535}', false, 65_535],
    ['(?:x{20}){20}', true, 400],
    ['(?:(?:x{20}){20}){20}', false, 8000],
    ['(?:(?:abcdefgh){30}){60}', false, 14_400],
    ['a*|b', true, 0],
    ['a++b', false, 2],
    ['(?>ab)', false, 2],
    ['(?=ab)a', false, 1],
    ['(?!b)a', true, 1],
    ['(a)\\1', false, 1],
  ])('%s: automata alone decide it: %s; a match has %i bytes or more', (source, isRegular, minLength) => {
    const pattern = compilePattern(source);
    expect([pattern.isRegular, pattern.gate.minLength]).toEqual([isRegular, minLength]);
  });

  test.each<[source: string, without: string, matched: string]>([
    ['union\\s+select', 'a vnoin tcelesu', 'union select'],
    ['(?i)uni[o0]n', 'only in no one', 'uNi0n'],
    ['[<>]\\w', 'plain text', 'a <b'],
    ['(?>[<>])\\w', 'plain text', 'a <b'],
    ['([<>])[;|]', 'a <b', '<;'],
    ['[<>]+[;|]', 'a; b', '<;'],
    ['a{20}', 'aaa', 'a'.repeat(20)],
    ['foo!|ba[rz]!', 'xyz!', 'baz!'],
    ['(?:x+y)?<script', '<scrip', '<script'],
  ])('the gate of %s keeps out %j, and lets %j through', (source, without, matched) => {
    const { gate } = compilePattern(source);
    const passes = (text: string): boolean => passesGate(gate, Buffer.from(`!${text}!`), 1, text.length + 1);
    expect([passes(without), passes(matched)]).toEqual([false, true]);
    expect(groups(source, matched)).not.toBe(null);
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

  test('a budget may be spent to the last unit, and no further', () => {
    const budget = createBudget(5);
    expect([spend(budget, 3), spend(budget, 2), budget.exceeded]).toEqual([true, true, false]);
    expect([spend(budget, 1), budget.exceeded, budget.units]).toEqual([false, true, 0]);
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
    ['(?<=(?:a|bc){2})b', 0, /lookbehind/],
    ['(?<=ab|c(?:d|ef))b', 0, /lookbehind/],
    ['a(?#b', 1, /comment/],
    ['a\\g', 1, /needs a group/],
    ['a{65536}', 1, /above 65535/],
    ['a{1,65536}', 1, /above 65535/],
    ['(?<n>a)(?<n>b)', 7, /two groups/],
    ['(?k)a', 2, /option "k"/],
    ['(?:ab{9}c){40000}', 0, /too large/],
  ])('%s is refused at offset %i', (source, offset, message) => {
    expect(() => compilePattern(source)).toThrow(message);
    expect(() => compilePattern(source)).toThrow(expect.objectContaining({ name: 'PatternError', offset }));
  });
});
