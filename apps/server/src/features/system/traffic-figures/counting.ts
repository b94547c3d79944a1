import { answerClasses, type TrafficCounters, type TrafficReading } from '@sallyport/haproxy';
import { combine, type Figures, type Minutes } from './minutes.ts';

/** So young a HAProxy has all that it counted told, when nothing is known of it; of an older one nobody knows when that was. */
const YOUNG_MS = 600_000;

/** What was last read of HAProxy. */
export interface LastReading {
  /** Milliseconds since 1970. */
  at: number;
  process: string;
  counters: TrafficCounters;
}

const sumOf = ({ requests, bytesIn, bytesOut }: TrafficCounters): Figures => [
  answerClasses.reduce((sum, name) => sum + requests[name], 0),
  requests['4xx'],
  requests['5xx'],
  bytesIn,
  bytesOut,
];

/** The higher one of each: corrected counters may fall by a few for a moment, which is no new beginning (see `parseTrafficCounters`). */
const highest = (one: TrafficCounters, other: TrafficCounters): TrafficCounters => ({
  requests: Object.fromEntries(
    answerClasses.map((name) => [name, Math.max(one.requests[name], other.requests[name])]),
  ) as TrafficCounters['requests'],
  bytesIn: Math.max(one.bytesIn, other.bytesIn),
  bytesOut: Math.max(one.bytesOut, other.bytesOut),
});

/** Puts what HAProxy counted since it was last read (undefined: never) into minutes, and gives back what is now the last reading. */
export const count = (
  minutes: Minutes,
  last: LastReading | undefined,
  { process, startedAt, counters }: TrafficReading,
  at: number,
): LastReading => {
  minutes.prune(at);
  if (last?.process === process) {
    const now = highest(last.counters, counters);
    const difference = combine(sumOf(now), sumOf(last.counters), (a, b) => a - b);
    minutes.spread(last.at, at, difference);
    return { at, process, counters: now };
  }
  // Another process: it begins at 0. What the one before counted after it was last read is lost.
  const from = Math.max(startedAt.getTime(), last?.at ?? 0);
  const isAllTold = last !== undefined || at - from <= YOUNG_MS;
  if (isAllTold) minutes.spread(from, at, sumOf(counters));
  return { at, process, counters };
};
