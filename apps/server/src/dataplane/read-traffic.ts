import { createAdminSocket, RuntimeUnavailable, readTrafficCounters, type TrafficReading } from '@sallyport/haproxy';

/** HAProxy answers within milliseconds. */
const ANSWER_WITHIN_MS = 2_000;

/** Reads what HAProxy has counted; undefined while it does not answer. Rejects when the answer is not what is expected. */
export const readTraffic = async (path: string): Promise<TrafficReading | undefined> => {
  try {
    return await readTrafficCounters(createAdminSocket({ path, silenceTimeoutMs: ANSWER_WITHIN_MS }));
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return undefined;
    throw error;
  }
};
