/** How long after a failure everything is tried again; doubles up to the second figure. */
const RETRY_MS = [1_000, 30_000] as const;

/** When to try again what is not in force. Times are milliseconds since the epoch. */
export const createRetry = () => {
  let waitMs: number = RETRY_MS[0];
  let at = Number.POSITIVE_INFINITY;
  return {
    /** After each attempt; one that failed while another try is due changes nothing. */
    attempted(isWhole: boolean, now: number): void {
      if (isWhole) {
        waitMs = RETRY_MS[0];
        at = Number.POSITIVE_INFINITY;
      } else if (at === Number.POSITIVE_INFINITY) {
        at = now + waitMs;
        waitMs = Math.min(waitMs * 2, RETRY_MS[1]);
      }
    },

    /** Whether it is time; once said, the next failure begins to wait anew. */
    isDue(now: number): boolean {
      if (now < at) return false;
      at = Number.POSITIVE_INFINITY;
      return true;
    },
  };
};
