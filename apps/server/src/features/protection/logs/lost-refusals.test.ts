import { expect, test } from 'vitest';
import { findLost } from './lost-refusals.ts';

const START = Date.parse('2026-05-02T12:00:00.000Z');
const told = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ reference: `r${n}`, timestamp: new Date(START + n).toISOString() }));

/** A store that keeps these, and counts what it is asked for. */
const given = (references: readonly string[], since = Number.NEGATIVE_INFINITY) => {
  const asked: number[] = [];
  const known = async (wanted: readonly string[]) => {
    asked.push(wanted.length);
    return new Set(wanted.filter((reference) => references.includes(reference)));
  };
  const kept = { known, since: async () => since };
  return { asked, kept };
};
const references = (events: readonly { reference: string }[]) => events.map(({ reference }) => reference);

test('what came after the newest that is kept was lost, in its order', async () => {
  const { kept, asked } = given(['r0', 'r5', 'r7']);
  expect(references(await findLost(told(10), kept))).toEqual(['r8', 'r9']);
  expect(asked).toEqual([10]);
});

test('what is older and not kept was left out or removed on purpose', async () => {
  const { kept } = given(['r9']);
  expect(await findLost(told(10), kept)).toEqual([]);
});

test('of the same moment as the newest that is kept, what is not kept was lost', async () => {
  const [first, ...others] = told(3).map((one) => ({ ...one, timestamp: new Date(START).toISOString() }));
  const { kept } = given([first?.reference ?? '']);
  expect(references(await findLost([...(first ? [first] : []), ...others], kept))).toEqual(['r1', 'r2']);
});

test('no more is looked up than it takes to find one that is kept, and all was lost when none is', async () => {
  const near = given(['r4900']);
  expect(references(await findLost(told(5_000), near.kept))).toEqual(references(told(5_000).slice(4_901)));
  expect(near.asked).toEqual([200]);
  const far = given(['r4500']);
  expect(await findLost(told(5_000), far.kept)).toHaveLength(499);
  expect(far.asked).toEqual([200, 200, 200]);
  const none = given(['of another node']);
  expect(await findLost(told(450), none.kept)).toHaveLength(450);
  expect(await findLost([], none.kept)).toEqual([]);
});

test('what another node has pushed out is not brought back', async () => {
  const { kept } = given(['of another node'], START + 440);
  expect(references(await findLost(told(450), kept))).toEqual(references(told(450).slice(440)));
});
