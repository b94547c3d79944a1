import type { AdminSocket } from './admin-socket.ts';
import { readProcessInfo } from './process-info.ts';
import { RuntimeRefused, RuntimeUnavailable } from './runtime-errors.ts';

/** Classes of statuses; `other` is a request that ended without an answer. */
export const answerClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'] as const;
export type AnswerClass = (typeof answerClasses)[number];

/** What one HAProxy counted since it started. A request counts when it is over. */
export type TrafficCounters = {
  requests: Readonly<Record<AnswerClass, number>>;
  /** From clients. */
  bytesIn: number;
  /** To clients. */
  bytesOut: number;
};

export type TrafficReading = {
  /** Tells one process from the next, whose counters begin at 0. */
  process: string;
  startedAt: Date;
  counters: TrafficCounters;
};

/** Frontends and backends, without servers: the same few lines however many hosts there are. */
const showStat = { words: ['show', 'stat', '-1', '3', '-1'] };

/** Rows by `pxname/svname`, fields by the names of the header line. No field that is read here stands behind one with free text. */
const rowsOf = (csv: string): Map<string, Map<string, string>> => {
  const [header = '', ...lines] = csv.split('\n').filter((line) => line !== '');
  if (!header.startsWith('# pxname,svname,')) throw new RuntimeRefused('show stat', 'no header');
  const names = header.slice(2).split(',');
  return new Map(
    lines.map((line) => {
      const values = line.split(',');
      return [`${values[0]}/${values[1]}`, new Map(names.map((name, index) => [name, values[index] ?? '']))];
    }),
  );
};

const numberIn = (row: ReadonlyMap<string, string>, name: string): number => {
  const value = row.get(name) ?? '';
  if (!/^\d+$/.test(value)) throw new RuntimeRefused('show stat', `${name} is no number`);
  return Number(value);
};

/**
 * The counters in an answer to `show stat`. Before HAProxy 3.0 some requests go through the frontend twice (exactly-once.ts): what its backend
 * `once` counts is taken off again. What relays hand back comes to a frontend of its own, which isn't looked at. Throws a RuntimeRefused.
 */
export const parseTrafficCounters = (csv: string): TrafficCounters => {
  const rows = rowsOf(csv);
  const frontend = rows.get('proxy/FRONTEND');
  if (!frontend) throw new RuntimeRefused('show stat', 'no frontend proxy');
  const twice = rows.get('once/BACKEND');
  // The lines are not of one moment: a request that ended between them is missing in the first.
  const count = (name: string): number =>
    Math.max(0, numberIn(frontend, name) - (twice === undefined ? 0 : numberIn(twice, name)));
  const requests = Object.fromEntries(answerClasses.map((name) => [name, count(`hrsp_${name}`)]));
  return {
    requests: requests as Record<AnswerClass, number>,
    bytesIn: count('bin'),
    bytesOut: count('bout'),
  };
};

const readProcess = async (socket: AdminSocket): Promise<Omit<TrafficReading, 'counters'>> => {
  const { pid, uptimeSec, values } = await readProcessInfo(socket);
  const startedAt = Number(values.get('Start_time_sec'));
  // A pid alone comes again: in a container every HAProxy may have the same.
  return startedAt > 0
    ? { process: `${pid}@${startedAt}`, startedAt: new Date(startedAt * 1_000) }
    : { process: `${pid}`, startedAt: new Date(Date.now() - uptimeSec * 1_000) };
};

/**
 * Reads what HAProxy counted. Counters are given only with the process that they are of: one that is replaced meanwhile is a
 * RuntimeUnavailable, as one that does not answer. Rejects with RuntimeRefused when the answer is another than expected.
 */
export const readTrafficCounters = async (socket: AdminSocket): Promise<TrafficReading> => {
  const before = await readProcess(socket);
  const counters = parseTrafficCounters(await socket.ask(showStat));
  const after = await readProcess(socket);
  if (after.process !== before.process) throw new RuntimeUnavailable('HAProxy was replaced while it was asked');
  return { ...before, counters };
};
