import type { TrafficReading } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { count } from './counting.ts';
import { createMinutes } from './minutes.ts';

const START = 29_000_000;
const MINUTE = 60_000;
const at = (minute: number) => (START + minute) * MINUTE;

const reading = (requests: number, { process = 'one', startedAt = at(0) } = {}): TrafficReading => ({
  ...{ process, startedAt: new Date(startedAt) },
  counters: {
    requests: { '1xx': 0, '2xx': requests, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
    ...{ bytesIn: requests, bytesOut: requests },
  },
});

const requestsOf = (minutes: ReturnType<typeof createMinutes>) =>
  minutes.entries().map(([minute, [requests]]) => [minute - START, requests]);

test('of a HAProxy that nobody has read before all is told while it is young, and nothing of an older one', () => {
  const young = createMinutes();
  count(young, undefined, reading(10), at(10));
  expect(requestsOf(young)).toEqual(Array.from({ length: 10 }, (_, minute) => [minute, 1]));
  const old = createMinutes();
  const last = count(old, undefined, reading(10), at(10) + 1);
  expect(requestsOf(old)).toEqual([]);
  count(old, last, reading(11), at(11));
  expect(requestsOf(old)).toEqual([[10, 1]]);
});

test('what another HAProxy counted is its own, of the time since it started, or since the first was last read', () => {
  const minutes = createMinutes();
  const last = count(minutes, undefined, reading(4), at(1));
  // However long it has run: what is told of it is all since the reading before.
  const next = count(minutes, last, reading(30, { process: 'two', startedAt: at(2) }), at(17));
  expect(requestsOf(minutes)).toEqual([[0, 4], ...Array.from({ length: 15 }, (_, minute) => [minute + 2, 2])]);
  // Its clock may say that it started before that.
  count(minutes, next, reading(5, { process: 'three', startedAt: at(-60) }), at(18));
  expect(requestsOf(minutes).at(-1)).toEqual([17, 5]);
  expect(requestsOf(minutes)[0]).toEqual([0, 4]);
});

test('with each reading what is too old is forgotten', () => {
  const minutes = createMinutes([[START - 100_000, [1, 1, 1, 1, 1]]]);
  count(minutes, undefined, reading(0), at(60 * 24));
  expect(minutes.entries()).toEqual([]);
});

test('a counter that has fallen for a moment keeps its highest, one by one', () => {
  const minutes = createMinutes();
  const first = count(minutes, undefined, reading(10), at(1));
  const fallen = reading(8);
  fallen.counters.bytesOut = 20;
  const second = count(minutes, first, fallen, at(1) + 1);
  expect(second.counters).toMatchObject({ requests: { '2xx': 10 }, bytesIn: 10, bytesOut: 20 });
  expect(minutes.get(START + 1)).toEqual([0, 0, 0, 0, 10]);
});
