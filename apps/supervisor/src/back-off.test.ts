import { expect, test } from 'vitest';
import { restartDelayMs } from './back-off.ts';

const never = () => 0;
const most = () => 1 - Number.EPSILON;

test('restarts at once after the first failure, then waits 1, 2, 4 … 60 s', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000].map((failures) => restartDelayMs(failures, never));
  expect(delays).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

test('takes up to half of the delay away', () => {
  expect(restartDelayMs(2, most)).toBe(500);
  expect(restartDelayMs(20, most)).toBe(30_000);
});
