import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrafficFiguresQuery } from '@sallyport/contract';
import type { TrafficReading } from '@sallyport/haproxy';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTrafficFigures } from './service.ts';

const START = Date.parse('2026-11-22T12:00:00.000Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let dataDir: string;
let now: number;
/** What HAProxy answers at the moment; undefined: nothing. */
let haproxy: TrafficReading | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sallyport-figures-'));
  now = START;
  haproxy = counted(0);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** A HAProxy that has counted so many requests; of ten each, one was refused, and of a hundred, one failed. */
const counted = (requests: number, process = 'first', startedAt = START): TrafficReading => {
  const [clientErrors, serverErrors] = [Math.floor(requests / 10), Math.floor(requests / 100)];
  const good = requests - clientErrors - serverErrors;
  return {
    process,
    startedAt: new Date(startedAt),
    counters: {
      requests: { '1xx': 0, '2xx': good, '3xx': 0, '4xx': clientErrors, '5xx': serverErrors, other: 0 },
      bytesIn: requests * 100,
      bytesOut: requests * 1_000,
    },
  };
};

/** The service on the directory; `lines` gets what it logs. */
const startFigures = async (lines: string[] = []) => {
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const figures = createTrafficFigures({ dataDir, read: async () => haproxy, clock: () => new Date(now), log });
  const { stop } = await figures.start();
  return {
    stop,
    asked: (query: TrafficFiguresQuery) => figures.figures(query),
    counters: figures.counters,
    /** Has it read HAProxy, which answers this, so much later. */
    async after(ms: number, answer: TrafficReading | undefined): Promise<void> {
      now += ms;
      haproxy = answer;
      await figures.readNow();
    },
    /** Requests of each minute since the start. */
    byMinute: () => figures.figures({ since: new Date(START).toISOString() }).buckets.map(({ requests }) => requests),
  };
};

const file = () => join(dataDir, 'traffic/figures.json');

describe('minutes', () => {
  test('hold what was counted meanwhile, as requests, errors and bytes', async () => {
    const figures = await startFigures();
    await figures.after(30 * SECOND, counted(100));
    await figures.after(60 * SECOND, counted(160));
    const { node, since, step, buckets } = figures.asked({ since: '2026-11-22T12:00:20Z' });
    expect({ since, step }).toEqual({ since: '2026-11-22T12:00:00.000Z', step: 60 });
    expect(node).not.toBe('');
    expect(buckets).toEqual([
      {
        at: '2026-11-22T12:00:00.000Z',
        ...{
          requests: 130,
          peak_requests: 130,
          client_errors: 13,
          server_errors: 1,
          bytes_in: 13_000,
          bytes_out: 130_000,
        },
        unknown_minutes: 0,
      },
      {
        at: '2026-11-22T12:01:00.000Z',
        ...{ requests: 30, peak_requests: 30, client_errors: 3, server_errors: 0, bytes_in: 3_000, bytes_out: 30_000 },
        unknown_minutes: 0,
      },
    ]);
    await figures.stop();
  });

  test('are unknown while HAProxy is away, and what the next one counted since it started is its own', async () => {
    const figures = await startFigures();
    await figures.after(MINUTE, counted(1_000));
    await figures.after(MINUTE, undefined);
    expect(await figures.counters()).toBeUndefined();
    await figures.after(MINUTE, undefined);
    const restarted = START + 4 * MINUTE;
    await figures.after(2 * MINUTE, counted(7, 'second', restarted));
    expect(figures.byMinute()).toEqual([1_000, null, null, null, 7]);
    expect((await figures.counters())?.requests['2xx']).toBe(7);
    // Of the first one nothing comes back, even when it has counted more.
    await figures.after(30 * SECOND, counted(2_000, 'third', now));
    expect(figures.byMinute().at(-1)).toBe(2_000);
    await figures.stop();
  });

  test('of a time in which nobody could ask the same HAProxy share what it counted', async () => {
    const figures = await startFigures();
    await figures.after(MINUTE, counted(10));
    await figures.after(2 * MINUTE, undefined);
    await figures.after(2 * MINUTE, counted(51));
    expect(figures.byMinute()).toEqual([10, 10, 10, 10, 11]);
    await figures.stop();
  });

  test('have no negative figures: a counter that falls for a moment is waited for', async () => {
    const figures = await startFigures();
    await figures.after(30 * SECOND, counted(100));
    await figures.after(10 * SECOND, counted(98));
    await figures.after(10 * SECOND, counted(103));
    expect(figures.byMinute()).toEqual([103]);
    await figures.stop();
  });

  test('are not made up for a HAProxy that has run for long before anybody counted', async () => {
    haproxy = counted(1_000_000, 'old', START - 30 * 24 * HOUR);
    const figures = await startFigures();
    expect(figures.byMinute()).toEqual([]);
    await figures.after(10 * SECOND, counted(1_000_001, 'old', START - 30 * 24 * HOUR));
    expect(figures.byMinute()).toEqual([1]);
    await figures.stop();
  });

  test('are those of the last two days, whatever the clock does', async () => {
    const figures = await startFigures();
    await figures.after(MINUTE, counted(60));
    await figures.after(50 * HOUR, counted(60 + 50 * 60));
    const hours = () => figures.asked({ since: new Date(now - 60 * HOUR).toISOString(), step: 3_600 }).buckets;
    const sum = () => hours().reduce((all, { requests }) => all + (requests ?? 0), 0);
    expect(hours()[0]?.requests).toBeNull();
    expect(sum()).toBeGreaterThan(47 * 60);
    expect(sum()).toBeLessThanOrEqual(48 * 60);
    // Set back by a day: what has not happened yet is forgotten.
    await figures.after(-24 * HOUR, counted(60 + 50 * 60 + 5));
    expect(hours().at(-1)?.requests).toBeLessThanOrEqual(65);
    expect(sum()).toBeLessThan(25 * 60);
    await figures.after(MINUTE, counted(60 + 50 * 60 + 8));
    expect(sum()).toBeLessThan(25 * 60);
    await figures.stop();
    expect(statSync(file()).size).toBeLessThan(500_000);
  });
});

test('counters are those of a second at most, however many ask; a HAProxy that answers what nobody understands has none', async () => {
  let asked = 0;
  let answer: () => TrafficReading = () => counted(7);
  const read = async () => {
    asked += 1;
    return answer();
  };
  const log = pino({ level: 'silent' });
  const { counters, readNow } = createTrafficFigures({ dataDir, read, clock: () => new Date(now), log });
  for (let time = 0; time < 1_000; time++) expect((await counters())?.requests['2xx']).toBe(7);
  // Once for each second that this took.
  expect(asked).toBeLessThan(100);
  answer = () => {
    throw new Error('what nobody understands');
  };
  await expect(readNow()).rejects.toThrow('nobody understands');
  expect(await counters()).toBeUndefined();
});

describe('buckets', () => {
  test('are sums of what is known, and say how much is not', async () => {
    const figures = await startFigures();
    await figures.after(2 * MINUTE, counted(200));
    await figures.after(6 * MINUTE, undefined);
    await figures.after(4 * MINUTE, counted(30, 'second', START + 11 * MINUTE));
    const { buckets } = figures.asked({ since: new Date(START).toISOString(), step: 300 });
    expect(
      buckets.map(({ requests, peak_requests, unknown_minutes }) => [requests, peak_requests, unknown_minutes]),
    ).toEqual([
      [200, 100, 3],
      [null, null, 5],
      [30, 30, 1],
    ]);
    await figures.stop();
  });

  test.each([
    ['step', { step: 90 }],
    ['since', { since: '2026-11-22T12:00:01Z' }],
    ['since', { since: '2016-12-31T23:59:60Z' }],
    ['step', { since: '1970-01-01T00:00:00Z', step: 86_400 }],
    ['step', { since: '2026-11-21T11:58:00Z' }],
  ])('are refused by the name of what is wrong: %s', async (field, query) => {
    const figures = await startFigures();
    expect(() => figures.asked(query)).toThrow(new RegExp(`^${field} `));
    expect(figures.asked({}).buckets.length).toBeLessThanOrEqual(1_440);
    await figures.stop();
  });
});

describe('what is kept', () => {
  test('outlives the server, and what HAProxy counted meanwhile is told of that time', async () => {
    const before = await startFigures();
    await before.after(MINUTE, counted(50));
    await before.stop();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    now += 3 * MINUTE;
    haproxy = counted(350);
    const after = await startFigures();
    expect(after.byMinute()).toEqual([50, 100, 100, 100]);
    await after.stop();
  });

  test.each([
    ['damaged', (text: string) => text.slice(0, -10)],
    ['of another version', (text: string) => text.replace('"version":1', '"version":2')],
    ['with a number that is none', (text: string) => text.replace('[50,', '[-50,')],
    ['of a time to come', (text: string) => text.replace(`"at":${START + MINUTE}`, `"at":${START + HOUR}`)],
    ['something else', () => 'null'],
  ])('is ignored when it is %s', async (_what, change) => {
    const before = await startFigures();
    await before.after(MINUTE, counted(50));
    await before.stop();
    const text = readFileSync(file(), 'utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(file(), change(text));
    now += 20 * MINUTE;
    const lines: string[] = [];
    const after = await startFigures(lines);
    expect(after.byMinute().every((count) => count === null)).toBe(true);
    await after.after(10 * SECOND, counted(51));
    expect(after.byMinute().at(-1)).toBe(1);
    await after.stop();
    expect(lines).toEqual([]);
  });

  test('may be impossible to keep: counting goes on, and a stop says why', async () => {
    // A file where the directory would be: no rights get past it.
    writeFileSync(join(dataDir, 'traffic'), '');
    const lines: string[] = [];
    const figures = await startFigures(lines);
    await figures.after(MINUTE, counted(50));
    expect(figures.byMinute()).toEqual([50]);
    expect(lines).toEqual([]);
    await figures.stop();
    expect(lines).toEqual([expect.stringMatching(/cannot write .*figures\.json/)]);
  });
});
