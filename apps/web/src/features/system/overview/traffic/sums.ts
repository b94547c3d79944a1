import type { TrafficBucket } from '@sallyport/contract';

type Count = 'requests' | 'client_errors' | 'server_errors' | 'unknown_minutes';

const sumOf = (buckets: readonly TrafficBucket[], name: Count): number =>
  buckets.reduce((sum, bucket) => sum + (bucket[name] ?? 0), 0);

/** What the chart shows, as numbers; `peak` is the bucket with the busiest minute, undefined when nothing is known or came. */
export const sumsOf = (buckets: readonly TrafficBucket[]) => {
  const known = buckets.filter(({ requests }) => requests !== null);
  const peak = known.reduce<TrafficBucket | undefined>(
    (most, bucket) => ((bucket.peak_requests ?? 0) > (most?.peak_requests ?? 0) ? bucket : most),
    undefined,
  );
  return {
    isKnown: known.length > 0,
    requests: sumOf(known, 'requests'),
    clientErrors: sumOf(known, 'client_errors'),
    serverErrors: sumOf(known, 'server_errors'),
    unknownMinutes: sumOf(buckets, 'unknown_minutes'),
    peak,
  };
};
