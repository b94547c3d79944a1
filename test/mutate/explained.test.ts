import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Explained, explanationOf, outdated, readExplained } from './explained.ts';
import { findMutants } from './find-mutants.ts';

const file = 'packages/a/src/limit.ts';
const text = `const limit = (value: number) => {
  const most = 3;
  return value < most;
};
`;
const mutants = findMutants(file, text);
const border = mutants.find(({ change }) => change === '< → <=')!;

const explained = (parts: Partial<Explained>): Explained => ({ file, why: 'why', ...parts });

test.each<[what: string, parts: Partial<Explained>, isExplained: boolean]>([
  ['its line', { code: 'return value < most;' }, true],
  ['its line and change', { code: 'return value < most;', change: '< → <=' }, true],
  ['the function that it is in', { within: 'limit' }, true],
  ['another line', { code: 'return value < least;' }, false],
  ['another change', { code: 'return value < most;', change: '< → >=' }, false],
  ['another function', { within: 'most' }, false],
  ['another function around the line', { code: 'return value < most;', within: 'most' }, false],
  ['no more than a file', {}, false],
  ['a file of that name in another folder', { file: 'packages/b/src/limit.ts', within: 'limit' }, false],
])('an explanation that names %s', (_what, parts, isExplained) => {
  const one = explained(parts);
  expect(explanationOf([explained({ within: 'nowhere' }), one], border)).toBe(isExplained ? one : undefined);
});

test('an explanation that fits nothing any more is outdated', () => {
  const [fits, gone] = [explained({ within: 'limit' }), explained({ code: 'return value > most;' })];
  const elsewhere = explained({ file: 'packages/b/src/other.ts', within: 'nowhere' });
  expect(outdated([fits, gone, elsewhere], file, mutants)).toEqual([gone]);
});

test('every explanation is of a file that is there, says why, and names a place in it', () => {
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const list = readExplained();
  expect(list).not.toEqual([]);
  for (const one of list) {
    expect(existsSync(`${repository}${one.file}`), one.file).toBe(true);
    expect(one.why).toMatch(/\w+ \w+/);
    expect(one.code ?? one.within, JSON.stringify(one)).toBeTruthy();
  }
});
