import { expect, test } from 'vitest';
import { findMutants } from './find-mutants.ts';
import { renderTable, scoresOf } from './report.ts';
import type { Fate, Tried } from './try-mutants.ts';

const tried = (file: string, ...fates: readonly Fate[]): Tried[] => {
  const [mutant] = findMutants(file, 'const a = b < c;');
  return fates.map((fate) => ({ mutant: mutant!, fate }));
};

const all = [
  ...tried('packages/a/src/one.ts', 'noticed', 'too long', 'explained', 'survived'),
  ...tried('packages/a/src/two.ts', 'not reached', 'noticed', 'noticed'),
  ...tried('packages/b/src/three.ts', 'explained', 'noticed'),
];

test('a score counts what a test noticed or could not end, what is explained, and the rest', () => {
  expect(scoresOf(all, (file) => file.slice(0, file.lastIndexOf('/')))).toEqual([
    { name: 'packages/a/src', mutants: 7, noticed: 4, explained: 1, unnoticed: 2 },
    { name: 'packages/b/src', mutants: 2, noticed: 1, explained: 1, unnoticed: 0 },
  ]);
});

test('the share is of those noticed or explained, and never rounded up', () => {
  const [, , ...rows] = renderTable([
    { name: 'a', mutants: 7, noticed: 4, explained: 1, unnoticed: 2 },
    { name: 'b', mutants: 1_000, noticed: 999, explained: 0, unnoticed: 1 },
    { name: 'c', mutants: 0, noticed: 0, explained: 0, unnoticed: 0 },
  ]).split('\n');
  expect(rows).toEqual([
    '| a | 7 | 4 | 1 | 2 | 71 % |',
    '| b | 1000 | 999 | 0 | 1 | 99 % |',
    '| c | 0 | 0 | 0 | 0 | 100 % |',
  ]);
});
