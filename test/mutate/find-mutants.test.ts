import { expect, test } from 'vitest';
import { applyMutant, findMutants } from './find-mutants.ts';

/** What becomes of a text by each of its mutants, without what is the same in all. */
const mutantsOf = (text: string): string[] => findMutants('a.ts', text).map((mutant) => applyMutant(text, mutant));

test.each<[what: string, text: string, mutants: string[]]>([
  ['a branch', 'if (a) b;', ['if (true) b;', 'if (false) b;', 'if (a) ;']],
  ['both halves of a condition', 'if (a && b) ;', ['if (false) ;', 'if ((a)) ;', 'if ((b)) ;']],
  ['a default', 'x(a ?? b);', [';', 'x((a));', 'x((b));']],
  ['the border of a range', 'const a = b < c;', ['const a = b <= c;', 'const a = b >= c;']],
  ['an equality', 'const a = b === c;', ['const a = b !== c;']],
  ['a loop', 'while (a) b();', ['while (false) b();', 'while (a) ;']],
  ['arithmetic', 'const a = b + 1;', ['const a = b - 1;']],
  ['a negation', 'const a = !b;', ['const a = (b);']],
  ['a text', "const a = 'b';", ["const a = '';"]],
  ['a list', 'const a = [b];', ['const a = [];']],
  ['a field', 'const a = { b, c: 1 };', ['const a = {  c: 1 };', 'const a = { b,  };']],
  ['a result', 'const a = () => { return b; };', ['const a = () => { return; };']],
  ['the result of an arrow function', 'const a = () => b;', ['const a = () => undefined;']],
  ['a throw', 'if (a) throw b;', ['if (true) throw b;', 'if (false) throw b;', 'if (a) ;']],
  ['an optional chain', 'const a = b?.c;', ['const a = b.c;']],
  ['a wait', 'const a = await b;', ['const a = (b);']],
  ['the ends of a pattern', 'const a = /^b$/u;', ['const a = /b$/u;', 'const a = /^b/u;']],
  ['a step of a chain', 'const a = b.trim();', ['const a = b;']],
  ['some and all', 'const a = b.some(c);', ['const a = b.every(c);']],
])('changes %s', (_what, text, mutants) => {
  expect(mutantsOf(text).toSorted()).toEqual(mutants.toSorted());
});

test('leaves alone what only people or the type checker read', () => {
  const text = `import a from 'a';
type B = 'b' | 'c';
log.warn({ err }, 'words');
const f = (x: B): x is 'b' => a(x);
throw new Error('words');`;
  expect(mutantsOf(text)).toEqual([text.replace('a(x)', 'undefined'), text.replace("throw new Error('words');", ';')]);
});

test('names a mutant by its line and change', () => {
  expect(findMutants('a.ts', 'x;\n  const a = b < c; // why\n')[1]).toMatchObject({
    file: 'a.ts',
    line: 2,
    kind: 'relation',
    code: 'const a = b < c; // why',
    change: '< → <=',
  });
});

test('refuses a file that does not parse', () => {
  expect(() => findMutants('a.ts', 'const = ;')).toThrow('a.ts');
});
