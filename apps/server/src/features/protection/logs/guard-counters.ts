import { type GuardCounters, VERDICT_SECONDS_BOUNDS } from '@sallyport/contract';

const COUNTS = ['requests', 'blocked', 'monitored', 'access_denied', 'unjudged', 'dropped_messages'] as const;
type Count = (typeof COUNTS)[number];

export type GuardTotals = Record<Count, number> & { verdict_seconds: { sum: number; buckets: number[] } };

/** Instances that are remembered to tell what of their counts is new; ended ones fall out. */
const MAX_INSTANCES = 4_096;

const zero = (): GuardTotals => ({
  requests: 0,
  blocked: 0,
  monitored: 0,
  access_denied: 0,
  unjudged: 0,
  dropped_messages: 0,
  verdict_seconds: { sum: 0, buckets: VERDICT_SECONDS_BOUNDS.map(() => 0).concat(0) },
});

/**
 * Adds up what workers counted. Each reports its totals since it started under an instance of its own, so that a lost
 * or repeated report changes nothing and a restarted worker never counts backwards.
 */
export const createGuardCounters = () => {
  const totals = zero();
  const last = new Map<string, GuardCounters>();
  const revisions = new Map<number, number>();

  return {
    /** Takes a report in; returns by how much the counts grew. */
    update(report: GuardCounters): Record<Count, number> {
      const before = last.get(report.instance);
      const grown = {} as Record<Count, number>;
      for (const name of COUNTS) {
        grown[name] = Math.max(0, report[name] - (before?.[name] ?? 0));
        totals[name] += grown[name];
      }
      const { sum, buckets } = report.verdict_seconds;
      totals.verdict_seconds.sum += Math.max(0, sum - (before?.verdict_seconds.sum ?? 0));
      for (const [index, count] of buckets.entries()) {
        const grownBy = Math.max(0, count - (before?.verdict_seconds.buckets[index] ?? 0));
        totals.verdict_seconds.buckets[index] = (totals.verdict_seconds.buckets[index] ?? 0) + grownBy;
      }
      // Reports that overtake each other must not make the older one the yardstick.
      if (!before || report.requests >= before.requests) {
        last.delete(report.instance);
        last.set(report.instance, report);
      }
      if (last.size > MAX_INSTANCES) last.delete(last.keys().next().value as string);
      revisions.set(report.worker, report.revision);
      return grown;
    },

    totals: (): GuardTotals => totals,

    /** Revision that each worker serves, by worker number. */
    revisions: (): ReadonlyMap<number, number> => revisions,
  };
};
