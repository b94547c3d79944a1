import { expect, test } from 'vitest';
import { type ParseOptions, parseCaddyfile } from './parse.ts';
import type { Directive } from './tree.ts';

const parse = (content: string, files: Record<string, string> = {}, options: ParseOptions = {}) => {
  const more = Object.entries(files).map(([name, text]) => ({ name, content: text }));
  return parseCaddyfile([{ name: 'Caddyfile', content }, ...more], options);
};

/** A block as text: words, and what stands in braces. */
const show = (directives: readonly Directive[]): string =>
  directives
    .map(({ name, args, block }) => {
      const line = [name, ...args].map(({ text }) => text).join(' ');
      return block ? `${line} { ${show(block)} }` : line;
    })
    .join('; ');
const shown = (content: string, files?: Record<string, string>) =>
  parse(content, files).blocks.map(
    ({ keys, directives }) => `${keys.map(({ text }) => text).join()}: ${show(directives)}`,
  );
const errorsOf = (content: string, files?: Record<string, string>, options?: ParseOptions) =>
  parse(content, files, options).errors.map(
    ({ message, file, line, column }) => `${file}:${line}:${column} ${message}`,
  );

test('blocks within blocks', () => {
  expect(shown('{\n debug\n}\na.test, b.test {\n x y {\n  z\n }\n w\n}\n')).toEqual([
    ': debug',
    'a.test,b.test: x y { z }; w',
  ]);
});

test('what an import brings keeps the place where it was written', () => {
  const { blocks } = parse('import sites/a\n', { 'sites/a': '\na.test {\n x\n}\n' });
  expect(blocks[0]).toMatchObject({ place: { file: 'sites/a', line: 2, column: 1 } });
  expect(blocks[0]?.directives[0]?.name).toMatchObject({ file: 'sites/a', line: 3, column: 2 });
});

test.each<[string, string, string[]]>([
  [
    '{args[0]} and its like',
    '(s) {\n x {args[0]}-{args[1]} {args[:]} {args[1:]} {args.0}\n}\na {\n import s 1 2\n}',
    ['a: x 1-2 1 2 2 1'],
  ],
  [
    'an argument that is not there stays',
    '(s) {\n x {args[3]} {args[2:]} {args[5:9]}\n}\na {\n import s 1 2\n}',
    ['a: x {args[3]} {args[5:9]}'],
  ],
  ['an argument with spaces is one word', '(s) {\n x {args[0]}\n}\na {\n import s "1 2"\n}', ['a: x 1 2']],
  ['{block}', '(s) {\n x {\n  {block}\n }\n}\na {\n import s {\n  y\n  z {\n   w\n  }\n }\n}', ['a: x { y; z { w } }']],
  [
    '{blocks.name}',
    '(s) {\n {blocks.b}\n {blocks.a}\n {blocks.c}\n}\na {\n import s {\n  a x y\n  b {\n   z\n  }\n }\n}',
    ['a: z; x y'],
  ],
  ['{block} twice', '(s) {\n {block}\n {block}\n}\na {\n import s {\n  y z\n }\n}', ['a: y z; y z']],
  [
    'a block is for the snippet, not for those that the file defines',
    'import f {\n x\n}\na {\n import s {\n  y\n }\n}',
    ['a: y'],
  ],
  ['a snippet named like a method', '(constructor) {\n x\n}\na {\n import constructor\n}', ['a: x']],
])('%s', (_, content, expected) => {
  expect(shown(content, { f: '(s) {\n {block}\n}\n' })).toEqual(expected);
});

test.each<[string, string, string[]]>([
  [
    'a circle of snippets',
    '(s) {\n import t\n}\n(t) {\n import s\n}\na {\n import s\n}',
    ['Caddyfile:5:9 import "s" goes round in a circle'],
  ],
  ['a circle of files', 'import one\n', ['two:1:8 import "one" goes round in a circle']],
  ['a file that imports itself', 'import Caddyfile\n', ['Caddyfile:1:8 import "Caddyfile" goes round in a circle']],
  [
    'a file that is not there',
    'a {\n import x\n}',
    ['Caddyfile:2:9 import "x": is not among the files that were given'],
  ],
  [
    'a file outside',
    'import ../etc/passwd\n',
    ['Caddyfile:1:8 import "../etc/passwd": leads outside of the files that were given'],
  ],
  [
    'a file outside, by a detour',
    'import d/../../x\n',
    ['Caddyfile:1:8 import "d/../../x": leads outside of the files that were given'],
  ],
  [
    'an absolute path',
    'import /etc/passwd\n',
    ['Caddyfile:1:8 import "/etc/passwd": is not among the files that were given'],
  ],
  ['a directory', 'import d\n', ['Caddyfile:1:8 import "d": is a directory, not a file']],
  ['two wildcards', 'import d/*.*\n', ['Caddyfile:1:8 import "d/*.*": may only have one wildcard']],
  [
    'a name like that of a method',
    'import __proto__\n',
    ['Caddyfile:1:8 import "__proto__": is not among the files that were given'],
  ],
  ['a block that is never closed', 'a {\n b {\n', ['Caddyfile:2:4 this block is never closed']],
  ['a brace too many', 'a {\n}\n}\n', ['Caddyfile:3:1 this brace closes nothing']],
  [
    'a brace on its own',
    'a {\n b\n {\n }\n}\n',
    ['Caddyfile:3:2 a { may not stand on a line of its own: put it on the line before'],
  ],
  ['a word behind a brace', 'a { b\n}\n', ['Caddyfile:1:5 nothing may follow { on its line']],
  [
    'no space before a brace',
    'a{\n}\n',
    ['Caddyfile:1:1 "a{": put a space before the brace', 'Caddyfile:2:1 this brace closes nothing'],
  ],
])('%s is an error with its place', (_, content, expected) => {
  expect(errorsOf(content, { one: 'import two\n', two: 'import one\n', 'd/f.x': '' })).toEqual(expected);
});

test('a site with an error is left out, those around it are not', () => {
  const content = 'a {\n x\n}\nb {\n import nowhere\n y {\n }\n}\nc {\n z\n}\n';
  expect(shown(content)).toEqual(['a: x', 'c: z']);
});

test('files are found beside the one that imports them, by one wildcard, in the order of their names', () => {
  const files = {
    'd/main': 'import *.conf\n',
    'd/b.conf': 'b {\n}\n',
    'd/a.conf': 'a {\n}\n',
    'd/.c.conf': 'c {\n}\n',
    'e.conf': 'e {\n}\n',
  };
  expect(shown('import d/main\n', files)).toEqual(['a: ', 'b: ']);
});

test('two files of one name are an error', () => {
  expect(
    parseCaddyfile([
      { name: 'x', content: 'a {\n}\n' },
      { name: './x', content: '' },
    ]).errors,
  ).toMatchObject([{ file: './x', message: 'there are two files "./x"' }]);
});

test('the main file may be another than the first', () => {
  expect(parse('a {\n}\n', { 'sub/main': 'b {\n}\n' }, { main: './sub/main' }).blocks).toMatchObject([
    { keys: [{ text: 'b' }] },
  ]);
  expect(errorsOf('a {\n}\n', {}, { main: 'nowhere' })).toEqual(['nowhere:1:1 there is no such file']);
  expect(parseCaddyfile([]).errors).toMatchObject([{ message: 'there is no file' }]);
});

test('a variable without a value is left and told of; no environment is looked at', () => {
  const { blocks, notices } = parse('{$PATH} {$PATH} {$HOME:x}\ny\n');
  expect(blocks[0]?.keys.map(({ text }) => text)).toEqual(['{$PATH}', '{$PATH}', 'x']);
  expect(notices).toEqual([
    {
      file: 'Caddyfile',
      line: 1,
      column: 1,
      message: 'the environment variable "PATH" is not known here and has no default',
    },
  ]);
});

test('after many errors it stops', () => {
  const { errors } = parse('}\n'.repeat(1000));
  expect(errors).toHaveLength(101);
  expect(errors.at(-1)).toMatchObject({ message: 'there are too many errors: what follows was not read', line: 100 });
});
