import { expect, test } from 'vitest';
import { createTaken } from './taken.ts';

test('a change is taken when every node that is waited for has said so, whenever that was', async () => {
  const taken = createTaken();
  const change = taken.begin('c');
  expect(await change.by([], 60_000)).toEqual([]);
  taken.note('c', 'a');
  taken.note('other', 'b');
  expect(await change.by(['a'], 60_000)).toEqual([]);
  const all = change.by(['a', 'b', 'c'], 60_000);
  taken.note('c', 'b');
  // Whoever was told by that has gone on by then.
  await new Promise(setImmediate);
  taken.note('c', 'c');
  expect(await all).toEqual([]);
});

test('those that have not in time are named, and nobody is heard after the end', async () => {
  const taken = createTaken();
  const change = taken.begin('c');
  taken.note('c', 'a');
  expect(await change.by(['a', 'b', 'c'], 1)).toEqual(['b', 'c']);
  change.end();
  taken.note('c', 'b');
  expect(await change.by(['b'], 1)).toEqual(['b']);
});
