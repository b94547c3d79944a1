import { collectAll } from '@sallyport/deployment/collect-all';
import { expect, test } from 'vitest';
import { createFairQueue, type Job } from './fair-queue.ts';

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

test('what was used counts half after ten seconds', () => {
  const { queue, take, pass } = given();
  queue.charge('early', 1_000);
  pass(10_000);
  queue.charge('late', 499);
  for (const client of ['early', 'late']) queue.add({ client, bytes: 1 });
  expect(take()).toBe('late');
  queue.add({ client: 'late', bytes: 1 });
  queue.charge('late', 2);
  expect(take()).toBe('early');
});

test("a client's jobs keep their order, and one that is taken back is not done", () => {
  const { queue } = given();
  const [first, second, third] = [1, 2, 3].map((bytes) => ({ client: 'a', bytes })) as [Job, Job, Job];
  for (const job of [first, second, third]) queue.add(job);
  expect([queue.waitingOf('a'), queue.waitingOf('b'), queue.all()]).toEqual([3, 0, [first, second, third]]);
  queue.remove(second);
  queue.remove({ client: 'b', bytes: 1 });
  expect([queue.take(() => true), queue.take(() => true), queue.take(() => true)]).toEqual([first, third, undefined]);
  queue.add(first);
  queue.remove(first);
  expect([queue.isEmpty(), queue.waitingOf('a'), queue.all()]).toEqual([true, 0, []]);
});

test('who has used next to nothing is forgotten', () => {
  const { queue, pass } = given();
  collectAll();
  const before = process.memoryUsage().heapUsed;
  for (let client = 0; client < 100_000; client++) {
    queue.charge(`client ${client}`, 1);
    pass(60_000);
  }
  collectAll();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  expect(queue.isEmpty()).toBe(true);
});
