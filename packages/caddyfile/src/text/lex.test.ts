import { expect, test } from 'vitest';
import { lex } from './lex.ts';
import { substituteVariables } from './variables.ts';

const words = (text: string, environment: Record<string, string> = {}) =>
  lex(
    'f',
    substituteVariables(text, (name) => environment[name]),
    1000,
  );
const texts = (text: string) => words(text).tokens.map((token) => token.text);
const placed = (text: string, environment?: Record<string, string>) =>
  words(text, environment).tokens.map((token) => `${token.text}@${token.line}:${token.column}`);

test.each<[string, string, string[]]>([
  ['words', 'a b\tc\nd', ['a', 'b', 'c', 'd']],
  ['a byte order mark is nothing', '\ufeffa', ['a']],
  ['a carriage return is nothing, even within a word', 'a\r\nb\rc', ['a', 'bc']],
  ['comments', '#x\na # b\nc#d', ['a', 'c#d']],
  ['quotes keep spaces, braces and lines', '"a {\n b" c', ['a {\n b', 'c']],
  ['only quotes can be escaped in quotes', String.raw`"a\"b\\" "\n"`, [String.raw`a"b\\`, String.raw`\n`]],
  ['nothing can be escaped in backticks', '`a\\`b', ['a\\', 'b']],
  ['quotes within a word are part of it', 'a"b c"', ['a"b', 'c"']],
  ['a backslash joins lines', 'a \\\n b', ['a', 'b']],
  ['a backslash before anything else is one', String.raw`\a \\ \#b`, [String.raw`\a`, String.raw`\\`]],
  ['empty quotes are a word', 'a "" b', ['a', '', 'b']],
  ['a heredoc', 'a <<E\n\tb "\n\t\tc\n\tE d', ['a', 'b "\n\tc', 'd']],
  ['an empty heredoc', '<<E\nE', ['']],
  ['<< before a space, or escaped, is no heredoc', '<< a \\<<b', ['<<', 'a', '<<b']],
])('%s', (_, text, expected) => {
  expect(texts(text)).toEqual(expected);
});

test('each word knows where it stands', () => {
  expect(placed('a "b\nc" d\n  e \\\n f\n<<E\nx\nE g\n h')).toEqual([
    ...['a@1:1', 'b\nc@1:3', 'd@2:4', 'e@3:3', 'f@4:2', 'x@5:1', 'g@7:3', 'h@8:2'],
  ]);
});

test('columns are those of the source, whatever variables stand for', () => {
  const environment = { LONG: 'much-longer-than-its-name', NONE: '' };
  expect(placed('{$LONG} a {$NONE} b {$X:y} c\n d {$LONG}z e', environment)).toEqual([
    ...['much-longer-than-its-name@1:1', 'a@1:9', 'b@1:19', 'y@1:21', 'c@1:28'],
    ...['d@2:2', 'much-longer-than-its-namez@2:4', 'e@2:13'],
  ]);
});

test.each<[string, string, number, number]>([
  ['a quote that is never closed', 'a\n b "c', 2, 4],
  ['a backtick that is never closed', '`', 1, 1],
  ['a heredoc that is never closed', 'a <<E\nb', 1, 3],
  ['a heredoc without a marker', '<<\n', 1, 1],
  ['a heredoc with a marker that is none', '<<a/b\na/b', 1, 1],
  ['a heredoc with three signs', '<<<E\nE', 1, 1],
  ['a line of a heredoc that stands too far left', '<<E\n  a\n b\n  E', 3, 1],
  ['a word without end', `a ${'b'.repeat(70_000)}`, 1, 3],
])('%s is an error with its place', (_, text, line, column) => {
  expect(words(text).error).toMatchObject({ file: 'f', line, column });
});

test('stops at the limit of words and keeps those it has', () => {
  const { tokens, error } = words('a '.repeat(2000));
  expect(tokens).toHaveLength(1000);
  expect(error).toMatchObject({ message: 'there are more than 1000 words', line: 1, column: 2001 });
});
