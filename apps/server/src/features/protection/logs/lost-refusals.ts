/** What is compared of a refusal. */
interface Told {
  reference: string;
  /** ISO 8601. */
  timestamp: string;
}

/** What is kept of the refusals of all nodes. */
export interface Kept {
  /** Which of these references are. */
  known(references: readonly string[]): Promise<ReadonlySet<string>>;
  /** What is older, milliseconds since the epoch, made room for others, or would; -Infinity when there is room for all. */
  since(): Promise<number>;
}

/** So many references are looked up at once; of what was told before the end, little is missing. */
const PORTION = 200;

/**
 * Those of the refusals that HAProxy has told (the oldest first) which came after the newest one that is kept, and are not kept
 * themselves. Only its own references are looked up: what other nodes have kept since, in the same store, says nothing about them.
 */
export const findLost = async <T extends Told>(told: readonly T[], kept: Kept): Promise<T[]> => {
  let lost: T[] = [];
  const floor = await kept.since();
  for (let end = told.length; end > 0; end -= PORTION) {
    const portion = told.slice(Math.max(0, end - PORTION), end);
    const known = await kept.known(portion.map(({ reference }) => reference));
    const moments = portion
      .filter(({ reference }) => known.has(reference))
      .map(({ timestamp }) => Date.parse(timestamp));
    const since = Math.max(floor, ...moments);
    const missing = portion.filter((one) => !known.has(one.reference) && Date.parse(one.timestamp) >= since);
    lost = [...missing, ...lost];
    if (moments.length > 0) break;
  }
  return lost;
};
