import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRestarts } from './restarts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const given = () => {
  const told = { again: 0, away: 0 };
  const restarts = createRestarts(
    () => {
      told.again += 1;
    },
    () => {
      told.away += 1;
    },
  );
  return { restarts, told };
};

test('each wait is twice the last one, up to a minute, and a quarter shorter at most', () => {
  const { restarts, told } = given();
  for (const [index, waitMs] of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000].entries()) {
    expect(restarts.waitMs()).toBe(waitMs);
    restarts.later();
    vi.advanceTimersByTime((waitMs * 3) / 4 - 1);
    expect(told.again).toBe(index);
    vi.advanceTimersByTime(waitMs / 4 + 1);
    expect(told.again).toBe(index + 1);
  }
  // Told when the wait could get no longer.
  expect(told.away).toBe(2);
});

test('who stayed up for more than a minute is started soon again', () => {
  const { restarts } = given();
  restarts.later();
  restarts.later();
  restarts.ranFor(60_000);
  expect(restarts.waitMs()).toBe(4_000);
  restarts.ranFor(60_001);
  expect(restarts.waitMs()).toBe(1_000);
});

test('there is one start at most to come, and none once it is cancelled', () => {
  const { restarts, told } = given();
  restarts.later();
  restarts.later();
  vi.advanceTimersByTime(60_000);
  expect(told.again).toBe(1);
  restarts.later();
  restarts.cancel();
  vi.advanceTimersByTime(120_000);
  expect(told.again).toBe(1);
});
