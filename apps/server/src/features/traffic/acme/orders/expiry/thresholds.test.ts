import { expect, test } from 'vitest';
import { thresholdAt } from './thresholds.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const notBefore = new Date('2026-11-22T00:00:00.000Z');

/** The moments at which something is told, in hours before the end. */
const toldAt = (lifetimeMs: number): number[] => {
  const notAfter = new Date(notBefore.getTime() + lifetimeMs);
  const told = new Set<number>();
  for (let time = notBefore.getTime(); time <= notAfter.getTime() + HOUR_MS; time += HOUR_MS / 4) {
    const threshold = thresholdAt({ notBefore, notAfter }, new Date(time));
    if (threshold !== undefined) told.add(threshold / HOUR_MS);
  }
  return [...told];
};

test.each([
  ['a year', 365 * DAY_MS, [336, 168, 72, 24, 0]],
  ['90 days', 90 * DAY_MS, [336, 168, 72, 24, 0]],
  ['six days, which are renewed with two left', 6 * DAY_MS, [24, 0]],
  ['six hours', 6 * HOUR_MS, [1, 0]],
])('of %s', (_what, lifetimeMs, hours) => {
  expect(toldAt(lifetimeMs)).toEqual(hours);
});
