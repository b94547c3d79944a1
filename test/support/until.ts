import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is neither undefined nor false, and returns it; gives up after `limitMs` and says on what. */
export const until = async <T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 45_000,
): Promise<T> => {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > giveUpAt) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await sleep(20);
  }
};
