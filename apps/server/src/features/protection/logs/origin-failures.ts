import type { LogEntry } from '@sallyport/contract';
import { failureReason } from '@sallyport/haproxy/failure-reason';
import type { ProxyLine } from './proxy-line.ts';

export interface OriginFailuresDeps {
  publish(entry: LogEntry): void;
  clock: () => Date;
}

/** After the first failure of an origin, those of so long are told as one: a dead origin under load fails thousands of times a second. */
const GATHER_MS = 10_000;
/** So many origins, each with a reason, are told apart at a time; further ones together. */
const MOST_ORIGINS = 100;

type Gathered = { count: number; last: ProxyLine; timer: NodeJS.Timeout };

const said = (text: string | undefined): text is string =>
  text !== undefined && text !== '' && text !== '-' && text !== '-:-';

const toEntry = (line: ProxyLine, reason: string, message: string, timestamp: string, failures: number): LogEntry => ({
  level: 'warn',
  message,
  timestamp,
  source: 'guard',
  fields: {
    event: 'origin_failure',
    reference: line.reference,
    ip: line.client,
    host: line.host.slice(0, 255),
    status: line.status,
    reason,
    ...(said(line.origin) && { origin: line.origin }),
    failures,
  },
});

/** Tells the live log of requests that failed at their origin: the first at once, what follows summed up. */
export const createOriginFailures = ({ publish, clock }: OriginFailuresDeps) => {
  const gathered = new Map<string, Gathered>();

  const summarise = (key: string, reason: string): void => {
    const found = gathered.get(key);
    if (!found) return;
    const { count, last } = found;
    if (count === 0) return void gathered.delete(key);
    found.count = 0;
    found.timer = later(key, reason);
    const message = `${count} more requests failed: ${reason}`;
    publish(toEntry(last, reason, message, clock().toISOString(), count));
  };
  const later = (key: string, reason: string): NodeJS.Timeout =>
    setTimeout(() => summarise(key, reason), GATHER_MS).unref();

  return {
    /** Takes a line of HAProxy's log; one that tells of no failed origin is left aside. */
    note(line: ProxyLine): void {
      // What was refused has not come to an origin.
      if (line.status < 500 || said(line.refused)) return;
      const reason = failureReason({ termination: line.termination, failure: line.failure, tls: line.tls });
      if (reason === undefined) return;
      const own = `${line.origin} ${reason}`;
      const [key, told] =
        gathered.has(own) || gathered.size < MOST_ORIGINS ? [own, reason] : ['', 'further origins fail'];
      const known = gathered.get(key);
      if (known) {
        known.count += 1;
        known.last = line;
        return;
      }
      gathered.set(key, { count: 0, last: line, timer: later(key, told) });
      publish(toEntry(line, told, `Request failed: ${told}`, new Date(line.time).toISOString(), 1));
    },

    /** Forgets what is still to be summed up. */
    stop(): void {
      for (const { timer } of gathered.values()) clearTimeout(timer);
      gathered.clear();
    },
  };
};
