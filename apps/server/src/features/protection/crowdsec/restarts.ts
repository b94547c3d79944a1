/** From a second to a minute, doubled each time. */
const WAIT_MS = [1_000, 60_000] as const;

/** Who stayed up this long has recovered. */
const RECOVERED_MS = 60_000;

/** Tries a start again later, each time after a longer wait. `onAway` is told when that has become as long as it gets. */
export const createRestarts = (again: () => void, onAway: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  let waitMs: number = WAIT_MS[0];
  return {
    waitMs: (): number => waitMs,

    /** What ends after this many milliseconds was well: the next wait is a short one again. */
    ranFor(ms: number): void {
      if (ms > RECOVERED_MS) waitMs = WAIT_MS[0];
    },

    later(): void {
      clearTimeout(timer);
      timer = setTimeout(again, waitMs * (1 - Math.random() / 4));
      timer.unref();
      if (waitMs === WAIT_MS[1]) onAway();
      waitMs = Math.min(waitMs * 2, WAIT_MS[1]);
    },

    cancel: (): void => clearTimeout(timer),
  };
};
