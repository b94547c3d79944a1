import { afterEach, expect, test, vi } from 'vitest';
import { createRestartWait } from './restart-wait.ts';

afterEach(() => void vi.useRealTimers());

const given = () => {
  vi.useFakeTimers();
  const restart = createRestartWait();
  const waiting = () => {
    const state = { isOver: false };
    void restart.wait().then(() => {
      state.isOver = true;
    });
    return state;
  };
  return { restart, waiting, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
};

test('nobody waits for a HAProxy that was never there', async () => {
  const { waiting, pass } = given();
  const state = waiting();
  await pass(0);
  expect(state.isOver).toBe(true);
});

test('a change waits for a HAProxy that was there, until everything was reconciled with it', async () => {
  const { restart, waiting, pass } = given();
  restart.reconciled();
  const [first, second] = [waiting(), waiting()];
  await pass(2_900);
  expect([first.isOver, second.isOver]).toEqual([false, false]);
  restart.reconciled();
  await pass(0);
  expect([first.isOver, second.isOver]).toEqual([true, true]);
  expect(vi.getTimerCount()).toBe(0);
  // The next time it is away it has its time again.
  const third = waiting();
  await pass(2_900);
  expect(third.isOver).toBe(false);
  await pass(100);
  expect(third.isOver).toBe(true);
});

test('one that stays away is waited for once, and not by each change', async () => {
  const { restart, waiting, pass } = given();
  restart.reconciled();
  const first = waiting();
  await pass(2_000);
  const second = waiting();
  await pass(999);
  expect([first.isOver, second.isOver]).toEqual([false, false]);
  await pass(1);
  expect([first.isOver, second.isOver]).toEqual([true, true]);
  await pass(60_000);
  const late = waiting();
  await pass(0);
  expect(late.isOver).toBe(true);
});
