import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Watched, watchThreads } from './watchdog.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A thread that beats until told to hang. */
const given = (stuckAfterMs: number) => {
  let count = 1;
  const stuck: number[] = [];
  const timer = setInterval(() => count++, 100);
  const watched: Watched = { stuckAfterMs, beats: () => count, onStuck: () => void stuck.push(stuckAfterMs) };
  return { watched, stuck, hang: () => clearInterval(timer) };
};

test('a thread that hangs is reported once, after its time and not before, and the others are watched on', () => {
  const [judge, lane] = [given(5_000), given(60_000)];
  const watch = watchThreads(() => [judge.watched, lane.watched]);
  vi.advanceTimersByTime(60_000);
  expect(judge.stuck).toEqual([]);
  judge.hang();
  lane.hang();
  vi.advanceTimersByTime(4_000);
  expect(judge.stuck).toEqual([]);
  vi.advanceTimersByTime(30_000);
  expect([judge.stuck, lane.stuck]).toEqual([[5_000], []]);
  vi.advanceTimersByTime(60_000);
  expect([judge.stuck, lane.stuck]).toEqual([[5_000], [60_000]]);
  watch.stop();
});

test('a thread that still loads its rules is left alone', () => {
  const { watched, stuck } = given(5_000);
  const watch = watchThreads(() => [{ ...watched, beats: () => 0 }]);
  vi.advanceTimersByTime(60_000);
  expect(stuck).toEqual([]);
  watch.stop();
});

test('a process that was stopped for a while, its threads with it, goes on', () => {
  const { watched, stuck, hang } = given(5_000);
  const watch = watchThreads(() => [watched]);
  hang();
  vi.advanceTimersByTime(1_000);
  // The first look afterwards comes before the thread had a chance to beat.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
  vi.advanceTimersByTime(1_000);
  expect(stuck).toEqual([]);
  watch.stop();
});
