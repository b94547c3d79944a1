import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { pauseAfter } from './until.ts';

const INTERVAL_MS = 20;

/** Asks again and again until the expectation holds; the limit is for machines that are busy with something else. */
export const eventually = <T>(read: () => T | Promise<T>) => {
  const began = performance.now();
  const ask = async (): Promise<T> => {
    const more = pauseAfter(performance.now() - began) - INTERVAL_MS;
    if (more > 0) await sleep(more);
    return read();
  };
  return expect.poll(ask, { timeout: 45_000, interval: INTERVAL_MS });
};
