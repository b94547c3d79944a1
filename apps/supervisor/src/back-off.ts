const firstDelayMs = 1_000;
const longestDelayMs = 60_000;

/** A child that stayed up this long has recovered: its next failure counts as the first. */
export const recoveredAfterMs = 60_000;

/**
 * How long to wait before the next start, in milliseconds. `failures` counts from 1. The first restart is immediate: a
 * healthy child that was killed should be back at once. Later ones wait 1, 2, 4 … 60 s, less up to half of it (jitter,
 * `random` in [0, 1)), so that children that failed together don't come back together.
 */
export const restartDelayMs = (failures: number, random: () => number): number => {
  if (failures <= 1) return 0;
  const fullDelay = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 2, 16));
  return Math.round(fullDelay * (1 - random() / 2));
};
