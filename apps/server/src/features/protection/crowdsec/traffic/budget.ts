/** CrowdSec reads some 1,300 lines a second (1.4.6, one core); what it can't read would only make it late. */
const LINES_A_SECOND = 1_000;
/** Requests that went well take no more than this of it: an attack must not hide behind ordinary traffic. */
const WELL_A_SECOND = 500;
/** Every scenario has made up its mind about a client long before. */
const LINES_OF_A_CLIENT = 100;

const WINDOW_MS = 1_000;

/** Decides which lines are worth writing when there are more than CrowdSec can read. */
export const createBudget = (now: () => number = () => performance.now()) => {
  let until = Number.NEGATIVE_INFINITY;
  let left = 0;
  let wellLeft = 0;
  const byClient = new Map<string, number>();

  return {
    /** Whether a line of this client may be written; `status` is the answer's. Takes it off what is left of this second. */
    take(client: string, status: number): boolean {
      const time = now();
      if (time >= until) {
        until = time + WINDOW_MS;
        left = LINES_A_SECOND;
        wellLeft = WELL_A_SECOND;
        byClient.clear();
      }
      const isWell = status >= 100 && status < 400;
      if (left === 0 || (isWell && wellLeft === 0)) return false;
      const taken = byClient.get(client) ?? 0;
      if (taken === LINES_OF_A_CLIENT) return false;
      byClient.set(client, taken + 1);
      left -= 1;
      if (isWell) wellLeft -= 1;
      return true;
    },
  };
};
