import type { NotificationEvent } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { nextAfter } from './cron.ts';
import { createSchedule } from './schedule.ts';
import { scheduleStore } from './store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START = Date.parse('2026-11-20T12:30:00.000Z');
const at = (ms: number) => new Date(START + ms).toISOString();

const withSchedule = (
  work: (given: {
    /** Looks once, as it does now and then, at so many milliseconds after the start; resolves with how many were made. */
    look: (ms: number) => Promise<number>;
    store: ReturnType<typeof scheduleStore>;
    given: { pattern: string; fault: Error | undefined };
    told: NotificationEvent[];
    failures: () => number;
    db: Executor;
  }) => Promise<void>,
) =>
  withStore(async (database) => {
    const given = { pattern: '0 * * * *', fault: undefined as Error | undefined };
    let [now, made, failures] = [0, 0, 0];
    const told: NotificationEvent[] = [];
    const store = scheduleStore(database.kysely);
    const schedule = createSchedule({
      store,
      read: async (key) => (key === 'backup.schedule' ? given.pattern : ''),
      async make() {
        if (given.fault) throw given.fault;
        made += 1;
      },
      tell: (event) => void told.push(event),
      failed: () => void failures++,
      clock: () => new Date(START + now),
      log: pino({ level: 'silent' }),
    });
    const look = async (ms: number) => {
      now = ms;
      // It looks once when it starts.
      await schedule.start().stop();
      return made;
    };
    await work({ look, store, given, told, failures: () => failures, db: database.kysely });
  });

test('the first one is made at once, the next when it is time, and none without a schedule', () =>
  withSchedule(async ({ look, given, store, told, failures }) => {
    given.pattern = '';
    expect([await look(0), await store.madeAt()]).toEqual([0, '']);
    given.pattern = '0 * * * *';
    expect([await look(0), await store.madeAt()]).toEqual([1, at(0)]);
    expect([await look(0), await look(30 * MINUTE_MS - 1)]).toEqual([1, 1]);
    expect([await look(30 * MINUTE_MS), await store.madeAt()]).toEqual([2, at(30 * MINUTE_MS)]);
    // One for all that were missed.
    expect([await look(9 * HOUR_MS), await look(9 * HOUR_MS + 1)]).toEqual([3, 3]);
    expect([told, failures()]).toEqual([[], 0]);
  }));

test('a last one that is yet to come holds none up, a clock that is a little off makes no second one', () =>
  withSchedule(async ({ look, store, db }) => {
    // Nor does a row that is not there.
    await db.deleteFrom('backup_schedule').execute();
    expect(await store.madeAt()).toBe('');
    await look(HOUR_MS);
    expect(await look(HOUR_MS - 10 * MINUTE_MS)).toBe(1);
    expect([await look(HOUR_MS - 10 * MINUTE_MS - 1), await store.madeAt()]).toEqual([2, at(50 * MINUTE_MS - 1)]);
  }));

test('one that failed is told once a day, and tried again ten minutes later', () =>
  withSchedule(async ({ look, given, told, failures, store }) => {
    const DAY_MS = 24 * HOUR_MS;
    given.fault = new Error('no space left');
    expect(await look(0)).toBe(0);
    const retry_at = at(10 * MINUTE_MS);
    const expected = {
      event_type: 'backup_failed',
      severity: 'error',
      timestamp: at(0),
      message: `The scheduled backup could not be made: no space left; it is tried again at ${retry_at}`,
      details: { last_made_at: null, retry_at },
    };
    expect(told).toEqual([expected]);
    await look(10 * MINUTE_MS - 1);
    expect(failures()).toBe(1);
    await look(10 * MINUTE_MS);
    await look(DAY_MS - 1);
    expect([failures(), told.length]).toEqual([3, 1]);
    await look(DAY_MS + 10 * MINUTE_MS);
    expect([failures(), told.length]).toEqual([4, 2]);
    given.fault = undefined;
    expect([await look(DAY_MS + 20 * MINUTE_MS), await store.madeAt()]).toEqual([1, at(DAY_MS + 20 * MINUTE_MS)]);
    // The next one that fails is another matter.
    given.fault = new Error('no space left');
    await look(DAY_MS + 2 * HOUR_MS);
    expect(told.at(-1)?.details).toMatchObject({ last_made_at: at(DAY_MS + 20 * MINUTE_MS) });
    expect(told).toHaveLength(3);
  }));

test('what somebody else is at, or has made, is not made again', () =>
  withSchedule(async ({ look, store }) => {
    const until = at(10 * MINUTE_MS);
    expect(await store.claim({ madeAt: '', now: at(0), until })).toBe(true);
    expect(await look(5 * MINUTE_MS)).toBe(0);
    await store.made({ madeAt: '', at: at(0), until });
    expect(await look(5 * MINUTE_MS)).toBe(0);
    expect(await store.claim({ madeAt: '', now: at(6 * MINUTE_MS), until: at(16 * MINUTE_MS) })).toBe(false);
    expect(await look(30 * MINUTE_MS)).toBe(1);
  }));

test('a pattern names its next moment, or is refused', () => {
  expect(nextAfter('0 * * * *', new Date(START))).toEqual(new Date(START + 30 * MINUTE_MS));
  expect(() => nextAfter('0 0 31 2 *', new Date(START))).toThrow('never comes');
  expect(() => nextAfter('0 0 0 * * *', new Date(START))).toThrow();
});
