import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const given = () => {
  let now = 0;
  const queue = createFairQueue<{ client: string; bytes: number }>(() => now);
  const take = (fits: (job: { bytes: number }) => boolean = () => true) => queue.take(fits)?.client;
  const pass = (ms: number): void => {
    now += ms;
  };
  return { queue, take, pass };
};

test("one client's many jobs hold up nobody else's one", () => {
  const { queue, take } = given();
  for (let i = 0; i < 5; i++) queue.add({ client: 'greedy', bytes: 13_000_000 });
  expect(take()).toBe('greedy');
  queue.charge('greedy', 4_000);
  queue.add({ client: 'modest', bytes: 100_000 });
  expect(take()).toBe('modest');
  queue.charge('modest', 5);
  queue.add({ client: 'modest', bytes: 100_000 });
  expect([take(), take()]).toEqual(['modest', 'greedy']);
});

test('what was used is forgotten', () => {
  const { queue, take, pass } = given();
  queue.charge('former', 4_000);
  queue.charge('recent', 100);
  pass(120_000);
  queue.charge('recent', 100);
  queue.add({ client: 'recent', bytes: 1 });
  queue.add({ client: 'former', bytes: 1 });
  expect(take()).toBe('former');
});

test('a job that does not fit waits, and others are taken before it', () => {
  const { queue, take } = given();
  queue.add({ client: 'heavy', bytes: 13_000_000 });
  queue.add({ client: 'light', bytes: 1 });
  const isLight = ({ bytes }: { bytes: number }): boolean => bytes < 1_000;
  expect([take(isLight), take(isLight), take()]).toEqual(['light', undefined, 'heavy']);
  expect(queue.isEmpty()).toBe(true);
});
