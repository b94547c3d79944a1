import { clientPrefix } from '@sallyport/access';

/** Spec, Limits: emergency token attempts per minute and source address. */
const MOST = 5;
const WINDOW_MS = 60_000;
/** More addresses than that in one minute are an attack; the one that has been quiet for longest is forgotten. */
const MOST_ADDRESSES = 10_000;

export interface Attempt {
  /** Seconds until the next one is looked at; undefined when this one is. */
  retryAfter: number | undefined;
  /** The first refusal in a row: the one to write down, as an attacker must not fill the audit trail. */
  isFirstRefusal: boolean;
}

/** Counts attempts per client address in a sliding minute; one that is refused does not count again. */
export const createAttempts = (now: () => number = () => performance.now()) => {
  const seen = new Map<string, { times: number[]; isRefusing: boolean }>();
  return (address: string): Attempt => {
    const client = clientPrefix(address);
    const moment = now();
    const times = (seen.get(client)?.times ?? []).filter((time) => moment - time < WINDOW_MS);
    const wasRefusing = seen.get(client)?.isRefusing === true;
    const isRefused = times.length >= MOST;
    if (!isRefused) times.push(moment);
    // Moved to the end: the first of the map is who was quiet for longest.
    seen.delete(client);
    seen.set(client, { times, isRefusing: isRefused });
    if (seen.size > MOST_ADDRESSES)
      for (const quiet of seen.keys()) {
        seen.delete(quiet);
        break;
      }
    const oldest = times[0] ?? moment;
    return {
      retryAfter: isRefused ? Math.max(1, Math.ceil((oldest + WINDOW_MS - moment) / 1000)) : undefined,
      isFirstRefusal: isRefused && !wasRefusing,
    };
  };
};
