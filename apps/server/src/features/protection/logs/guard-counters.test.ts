import type { GuardCounters } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { createGuardCounters } from './guard-counters.ts';

test('what guards counted is added up once, whatever is repeated, overtaken or begun anew', () => {
  const counters = createGuardCounters();
  const report = (instance: string, requests: number, more: Partial<GuardCounters> = {}): GuardCounters => ({
    ...{ type: 'counters', instance, worker: 0, revision: 1, requests, blocked: 1, monitored: 0, access_denied: 0 },
    ...{ unjudged: 0, dropped_messages: 0, verdict_seconds: { sum: requests / 2, buckets: [requests] } },
    ...more,
  });
  expect(counters.update(report('a', 10))).toMatchObject({ requests: 10, blocked: 1 });
  expect(counters.update(report('a', 10))).toMatchObject({ requests: 0, blocked: 0 });
  expect(counters.update(report('a', 30, { revision: 2 }))).toMatchObject({ requests: 20, blocked: 0 });
  // One that was overtaken takes nothing away, and is no yardstick.
  expect(counters.update(report('a', 20, { revision: 2 }))).toMatchObject({ requests: 0 });
  expect(counters.update(report('a', 31, { revision: 2 }))).toMatchObject({ requests: 1 });
  expect(counters.update(report('b', 5, { worker: 1, revision: 3 }))).toMatchObject({ requests: 5, blocked: 1 });
  expect(counters.totals()).toMatchObject({ requests: 36, blocked: 2, verdict_seconds: { sum: 18 } });
  expect(counters.totals().verdict_seconds.buckets[0]).toBe(36);
  const none = { monitored: 0, access_denied: 0, unjudged: 0, dropped_messages: 0 };
  expect(counters.totals()).toMatchObject(none);
  const each = { monitored: 1, access_denied: 2, unjudged: 3, dropped_messages: 4 };
  counters.update(report('c', 0, { ...each, blocked: 0, worker: 1, revision: 3 }));
  expect(counters.totals()).toMatchObject({ ...each, blocked: 2, requests: 36 });
  expect([...counters.revisions()]).toEqual([
    [0, 2],
    [1, 3],
  ]);
});
