import { TRAFFIC_FIGURES_HOURS } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { createMinutes, type Figures, minuteOf } from './minutes.ts';

const MINUTE = 60_000;
const KEPT = TRAFFIC_FIGURES_HOURS * 60;
const START = 29_000_000;
const requests = (count: number): Figures => [count, 0, 0, 0, 0];

test('all that is counted is spread over the minutes between, by the time in each, and none is lost', () => {
  const minutes = createMinutes();
  minutes.spread((START + 0.5) * MINUTE, (START + 2.25) * MINUTE, [7, 70, 1, 1_000, 0]);
  expect(minutes.entries()).toEqual([
    [START, [2, 20, 0, 285, 0]],
    [START + 1, [4, 40, 0, 572, 0]],
    [START + 2, [1, 10, 1, 143, 0]],
  ]);
  // To the very end of a minute nothing is of the next.
  minutes.spread((START + 1) * MINUTE, (START + 2) * MINUTE, requests(5));
  expect(minutes.get(START + 1)?.[0]).toBe(9);
  expect(minutes.get(START + 2)?.[0]).toBe(1);
  expect(minutes.get(START + 3)).toBeUndefined();
});

test('without a time between it is all of the last minute, also when the clock was set back', () => {
  const minutes = createMinutes();
  minutes.spread((START + 1) * MINUTE, (START + 1) * MINUTE, requests(2));
  minutes.spread((START + 1.5) * MINUTE, (START + 1.5) * MINUTE, requests(1));
  minutes.spread((START + 9) * MINUTE, START * MINUTE + 1, requests(4));
  expect(minutes.entries()).toEqual([
    [START + 1, requests(3)],
    [START, requests(4)],
  ]);
});

test('of a long time only what is kept is walked through, with its share', () => {
  const minutes = createMinutes();
  minutes.spread((START - 3 * KEPT) * MINUTE, START * MINUTE, requests(4 * 3 * KEPT));
  const entries = minutes.entries();
  expect(entries).toHaveLength(KEPT);
  // Each share is a whole number, so that one may have one less, and the next one more.
  expect(entries.filter(([, [count]]) => count < 3 || count > 5)).toEqual([]);
  const sum = entries.reduce((all, [, [count]]) => all + count, 0);
  expect(Math.abs(sum - 4 * KEPT)).toBeLessThanOrEqual(1);
  expect(entries.at(-1)?.[0]).toBe(START - 1);
});

test('what is older than is kept is forgotten, and what has not happened yet', () => {
  const minutes = createMinutes([-KEPT, 1 - KEPT, 0, 1].map((at) => [START + at, requests(1)] as const));
  minutes.prune(START * MINUTE + 59_999);
  expect(minutes.entries().map(([minute]) => minute - START)).toEqual([1 - KEPT, 0]);
  expect(minuteOf(START * MINUTE + 59_999)).toBe(START);
});
