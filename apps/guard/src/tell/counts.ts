import { VERDICT_SECONDS_BOUNDS } from '@sallyport/contract/values';

/** Positions of the counts in a slab; the histogram follows. */
export const COUNT_NAMES = [
  'requests',
  'blocked',
  'monitored',
  'access_denied',
  'unjudged',
  'dropped_messages',
] as const;
export type CountName = (typeof COUNT_NAMES)[number];

const SUM = COUNT_NAMES.length;
const BUCKETS = SUM + 1;
/** Numbers in a slab. */
export const SLAB_LENGTH = BUCKETS + VERDICT_SECONDS_BOUNDS.length + 1;

export interface Counts extends Record<CountName, number> {
  verdict_seconds: { sum: number; buckets: number[] };
}

/** What one thread counts into; nobody else writes to its slab. */
export interface Counter {
  add(name: CountName): void;
  /** A verdict that took this long. */
  took(milliseconds: number): void;
}

export const createCounter = (slab: Float64Array): Counter => ({
  add(name) {
    slab[COUNT_NAMES.indexOf(name)]! += 1;
  },
  took(milliseconds) {
    const seconds = milliseconds / 1000;
    slab[SUM]! += seconds;
    let bucket = 0;
    while (bucket < VERDICT_SECONDS_BOUNDS.length && seconds > VERDICT_SECONDS_BOUNDS[bucket]!) bucket++;
    slab[BUCKETS + bucket]! += 1;
  },
});

/** Adds slabs up. */
export const readCounts = (slabs: Iterable<Float64Array>): Counts => {
  const total = new Float64Array(SLAB_LENGTH);
  for (const slab of slabs) for (let i = 0; i < SLAB_LENGTH; i++) total[i]! += slab[i]!;
  const counts = Object.fromEntries(COUNT_NAMES.map((name, i) => [name, total[i]])) as Record<CountName, number>;
  return { ...counts, verdict_seconds: { sum: total[SUM] ?? 0, buckets: [...total.subarray(BUCKETS)] } };
};
