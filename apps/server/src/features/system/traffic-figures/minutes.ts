import { TRAFFIC_FIGURES_HOURS } from '@sallyport/contract';

const MINUTE_MS = 60_000;
const KEPT_MINUTES = TRAFFIC_FIGURES_HOURS * 60;

/** What is counted: requests, of these client errors and server errors, bytes in, bytes out. */
export type Figures = readonly [number, number, number, number, number];

export const NOTHING: Figures = [0, 0, 0, 0, 0];

/** Figures, one by one, as `change` has them of both. */
export const combine = (one: Figures, other: Figures, change: (a: number, b: number) => number): Figures =>
  one.map((value, index) => change(value, other[index] ?? 0)) as unknown as Figures;

const plus = (a: number, b: number): number => a + b;

/** The minute since 1970 that a moment (milliseconds) lies in. */
export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS);

/** What was counted in each of the last minutes; a minute that is not in here is unknown. Bounded by the time that is kept. */
export const createMinutes = (given: Iterable<readonly [number, Figures]> = []) => {
  const known = new Map<number, Figures>(given);

  const add = (minute: number, figures: Figures): void => {
    known.set(minute, combine(known.get(minute) ?? NOTHING, figures, plus));
  };

  return {
    /** Forgets what is older than is kept, and, when the clock was set back, what has not happened yet. */
    prune(now: number): void {
      const newest = minuteOf(now);
      for (const minute of known.keys()) if (minute > newest || minute <= newest - KEPT_MINUTES) known.delete(minute);
    },

    /**
     * Adds what was counted between two moments (milliseconds), spread evenly over the minutes between: the sum stays exact, and
     * no peak is told that nobody has seen. A clock that was set back leaves no time between: then it is all of the minute of `to`.
     */
    spread(from: number, to: number, figures: Figures): void {
      if (from >= to) {
        add(minuteOf(to), figures);
        return;
      }
      // Only what is kept: the rest of a long time is counted, not walked through.
      const first = Math.max(minuteOf(from), minuteOf(to) - KEPT_MINUTES);
      const shareUntil = (end: number): Figures =>
        combine(figures, NOTHING, (value) => Math.floor(value * ((Math.min(end, to) - from) / (to - from))));
      let before = first === minuteOf(from) ? NOTHING : shareUntil(first * MINUTE_MS);
      for (let minute = first; minute * MINUTE_MS < to; minute++) {
        const until = shareUntil((minute + 1) * MINUTE_MS);
        add(
          minute,
          combine(until, before, (a, b) => a - b),
        );
        before = until;
      }
    },

    get: (minute: number): Figures | undefined => known.get(minute),
    entries: (): [number, Figures][] => [...known],
  };
};
export type Minutes = ReturnType<typeof createMinutes>;
