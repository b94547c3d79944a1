import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Watched, watchThreads } from './watchdog.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A thread that beats until told to hang. */
const given = (kind: Watched['kind']) => {
  let count = 1;
  const timer = setInterval(() => count++, 100);
  return { watched: { kind, beats: () => count }, hang: () => clearInterval(timer) };
};

test('a judging thread that hangs is reported once, after seconds and not before', () => {
  const { watched, hang } = given('judge');
  const stuck: string[] = [];
  watchThreads(
    () => [watched],
    (kind) => stuck.push(kind),
  );
  vi.advanceTimersByTime(60_000);
  expect(stuck).toEqual([]);
  hang();
  vi.advanceTimersByTime(4_000);
  expect(stuck).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(stuck).toEqual(['judge']);
});

test('a relay may be busy with a long body, and a thread that still loads its rules is left alone', () => {
  const { watched, hang } = given('relay');
  const loading: Watched = { kind: 'judge', beats: () => 0 };
  const stuck: string[] = [];
  const watch = watchThreads(
    () => [watched, loading],
    (kind) => stuck.push(kind),
  );
  vi.advanceTimersByTime(1_000);
  hang();
  vi.advanceTimersByTime(30_000);
  expect(stuck).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(stuck).toEqual(['relay']);
  watch.stop();
});
