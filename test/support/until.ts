import { setTimeout as sleep } from 'node:timers/promises';

/** What is asked for costs processor time that what is waited for may need. */
const LONGEST_PAUSE_MS = 100;

/** The pause before asking again, in milliseconds: as short as Vitest's own, later a tenth of what was waited already. */
export const pauseAfter = (waitedMs: number): number => Math.min(LONGEST_PAUSE_MS, Math.max(20, waitedMs / 10));

/** Asks until the answer is neither undefined nor false, and returns it; gives up after `limitMs` and says on what. */
export const until = async <T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 45_000,
): Promise<T> => {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - began;
    if (waited > limitMs) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await sleep(pauseAfter(waited));
  }
};
