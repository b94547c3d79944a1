import {
  TRAFFIC_FIGURES_BUCKETS,
  type TrafficBucket,
  type TrafficFigures,
  type TrafficFiguresQuery,
} from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { combine, type Figures, type Minutes, minuteOf } from './minutes.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Minutes `from` (included) to `to` (not included) in one. */
const bucketOf = (minutes: Minutes, from: number, to: number): TrafficBucket => {
  let sum: Figures | undefined;
  let peak: number | null = null;
  let unknown = 0;
  for (let minute = from; minute < to; minute++) {
    const figures = minutes.get(minute);
    if (!figures) {
      unknown++;
      continue;
    }
    sum = sum ? combine(sum, figures, (a, b) => a + b) : figures;
    peak = Math.max(peak ?? 0, figures[0]);
  }
  const [requests, client_errors, server_errors, bytes_in, bytes_out] = sum ?? [null, null, null, null, null];
  const at = new Date(from * MINUTE_MS).toISOString();
  const errors = { client_errors, server_errors };
  return { at, requests, peak_requests: peak, ...errors, bytes_in, bytes_out, unknown_minutes: unknown };
};

/** Answers what was asked for at `now` (milliseconds). Throws a 400 that names the field. */
export const bucketsOf = (
  minutes: Minutes,
  { since, step = 60 }: TrafficFiguresQuery,
  now: number,
): Omit<TrafficFigures, 'node'> => {
  if (step % 60 !== 0) throw refuse.invalid('step must be a multiple of 60');
  const asked = since === undefined ? now - DAY_MS + MINUTE_MS : Date.parse(since);
  // A leap second is a date-time, and no moment to JavaScript.
  if (Number.isNaN(asked)) throw refuse.invalid('since must be a valid date-time');
  if (asked > now) throw refuse.invalid('since must not be in the future');
  const size = step / 60;
  const first = Math.floor(minuteOf(asked) / size) * size;
  // The minute that has just begun is not unknown because nobody has asked yet.
  const end = minuteOf(now) + (minutes.get(minuteOf(now)) ? 1 : 0);
  const count = Math.ceil((end - first) / size);
  if (count > TRAFFIC_FIGURES_BUCKETS) {
    throw refuse.invalid(
      `step is too short: from since until now there are more than ${TRAFFIC_FIGURES_BUCKETS} of it`,
    );
  }
  const buckets = Array.from({ length: Math.max(0, count) }, (_, index) => {
    const from = first + index * size;
    return bucketOf(minutes, from, Math.min(from + size, end));
  });
  return { since: new Date(first * MINUTE_MS).toISOString(), step, buckets };
};
