import { expect, test } from 'vitest';
import { tryAgainAt } from './back-off.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const minutes = (failures: number, random: number, atLeast?: Date) =>
  (tryAgainAt(failures, now, random, atLeast).getTime() - now.getTime()) / 60_000;

test('each failure in a row is followed by a longer pause, up to a day', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => minutes(failures, 0))).toEqual([
    5, 15, 60, 180, 720, 1_440, 1_440, 1_440,
  ]);
});

test('those that failed together come back apart, a tenth later at most', () => {
  expect(minutes(3, 1)).toBeCloseTo(66);
});

test('nothing is tried before the authority allows it', () => {
  expect(minutes(1, 0, new Date(now.getTime() + 90 * 60_000))).toBe(90);
  expect(minutes(1, 0, new Date(now.getTime() - 90 * 60_000))).toBe(5);
});

test('a failed name is validated less often in an hour, and a week, than authorities allow', () => {
  const at: number[] = [];
  let time = 0;
  for (let failures = 1; time < 7 * 1_440; failures += 1) {
    at.push(time);
    time += minutes(failures, 0);
  }
  expect(at.filter((one) => one < 60)).toHaveLength(3);
  expect(at.length).toBeLessThan(14);
});
