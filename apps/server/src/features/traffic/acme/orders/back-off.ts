const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long after each failure in a row it is tried again: what is broken for a day is not asked for a hundred times. */
const PAUSES_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 12 * HOUR_MS, 24 * HOUR_MS] as const;
/** So much longer at most, so that a thousand that failed together do not come back together. */
const JITTER = 0.1;

/**
 * When to try again after `failures` in a row (1 and more), not before `atLeast`. `random`: within 0 and 1.
 */
export const tryAgainAt = (failures: number, now: Date, random: number, atLeast?: Date): Date => {
  const pauseMs = PAUSES_MS[Math.min(Math.max(failures, 1), PAUSES_MS.length) - 1] ?? HOUR_MS;
  const byUs = now.getTime() + pauseMs * (1 + JITTER * random);
  return new Date(Math.max(byUs, atLeast?.getTime() ?? 0));
};
