import { hostname } from 'node:os';
import type { TrafficFigures, TrafficFiguresQuery } from '@sallyport/contract';
import type { TrafficCounters, TrafficReading } from '@sallyport/haproxy';
import type { Logger } from 'pino';
import { repeat } from '../../../dataplane/repeat.ts';
import { bucketsOf } from './buckets.ts';
import { count, type LastReading } from './counting.ts';
import { readKept, writeKept } from './file.ts';
import { createMinutes } from './minutes.ts';

const READ_EVERY_MS = 10_000;
const WRITE_EVERY_MS = 300_000;
/** Anybody may ask for the metrics: HAProxy is not asked more often than this. */
const FRESH_MS = 1_000;

export interface TrafficFiguresDeps {
  dataDir: string;
  /** Undefined while HAProxy does not answer; rejects when it answers what nobody understands. */
  read: () => Promise<TrafficReading | undefined>;
  clock: () => Date;
  log: Logger;
}

/** Counts what went through this node's HAProxy in each minute of the last two days, from what HAProxy itself counts. */
export const createTrafficFigures = ({ dataDir, read, clock, log }: TrafficFiguresDeps) => {
  let minutes = createMinutes();
  let last: LastReading | undefined;
  let written: LastReading | undefined;
  /** What HAProxy counted, while it answers. */
  let current: TrafficCounters | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const readOnce = async (): Promise<void> => {
    // Until it has answered, what it said before stands: whoever asks meanwhile is told that.
    let counters: TrafficCounters | undefined;
    try {
      const given = await read();
      if (!given) return;
      last = count(minutes, last, given, clock().getTime());
      counters = last.counters;
    } finally {
      current = counters;
      readAt = performance.now();
    }
  };

  /** Reads HAProxy now, or waits for who does. */
  const readNow = (): Promise<void> => {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const write = async (): Promise<void> => {
    if (!last || last === written) return;
    const writing = last;
    await writeKept(dataDir, { last, minutes: minutes.entries() });
    written = writing;
  };

  return {
    readNow,

    /** Figures as they were asked for. Throws a 400 that names the field. */
    figures(query: TrafficFiguresQuery): TrafficFigures {
      const now = clock().getTime();
      minutes.prune(now);
      return { node: hostname(), ...bucketsOf(minutes, query, now) };
    },

    /** What HAProxy counted since it started; undefined while it does not answer. */
    async counters(): Promise<TrafficCounters | undefined> {
      // The log is told by the turns below.
      if (performance.now() - readAt >= FRESH_MS) await readNow().catch(() => {});
      return current;
    },

    /** Takes up what was kept, and counts until it is stopped, which keeps it. */
    async start(): Promise<{ stop(): Promise<void> }> {
      const now = clock().getTime();
      const kept = await readKept(dataDir, now);
      minutes = createMinutes(kept?.minutes);
      minutes.prune(now);
      last = kept?.last;
      written = last;
      await readNow().catch((err: unknown) => log.warn({ err }, "HAProxy's counters could not be read"));
      const turns = [
        repeat('read traffic counters', READ_EVERY_MS, readNow, log),
        repeat('keep traffic figures', WRITE_EVERY_MS, write, log),
      ];
      return {
        async stop() {
          for (const turn of turns) await turn.stop();
          await readNow().catch(() => {});
          await write().catch((err: unknown) => log.error({ err }, 'figures of requests could not be kept'));
        },
      };
    },
  };
};
export type TrafficFiguresService = ReturnType<typeof createTrafficFigures>;
