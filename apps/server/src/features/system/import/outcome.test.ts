import { expect, test } from 'vitest';
import { countsOf, namesOf, toOutcome } from './outcome.ts';

test('what came of a session is kept with its names, and read also where there were none', () => {
  const counts = { imported: 2, skipped: 1, failed: 0 };
  const kept = toOutcome(counts, ['a.test', 'b.test']);
  expect([countsOf(kept), namesOf(kept)]).toEqual([counts, ['a.test', 'b.test']]);
  expect([countsOf(null), namesOf(null)]).toEqual([null, []]);
  // As an earlier version kept it.
  const before = JSON.stringify(counts);
  expect([countsOf(before), namesOf(before)]).toEqual([counts, []]);
});
