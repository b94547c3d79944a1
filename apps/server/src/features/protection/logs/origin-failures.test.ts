import type { LogEntry } from '@sallyport/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOriginFailures } from './origin-failures.ts';
import { readProxyLine } from './proxy-line.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const line = (fields: object = {}) => {
  const read = readProxyLine(
    JSON.stringify({
      time: '2026-11-20T12:00:00.042Z',
      client: '203.0.113.7',
      reference: 'ref',
      status: 503,
      termination: 'SC',
      failure: '-',
      tls: '-',
      refused: '-',
      host: 'app.example.com',
      host_id: '7',
      method: '-',
      decision: '-',
      user_agent: '-',
      uri: '-',
      origin: '127.0.0.1:9000',
      ...fields,
    }),
  );
  if (!read) throw new Error('not a line');
  return read;
};
const given = () => {
  const told: LogEntry[] = [];
  return { told, failures: createOriginFailures({ publish: (entry) => told.push(entry), clock: () => new Date() }) };
};

test('the first failure of an origin is told at once', () => {
  const { told, failures } = given();
  failures.note(line());
  expect(told).toEqual([
    {
      level: 'warn',
      message: 'Request failed: the origin refuses connections',
      timestamp: '2026-11-20T12:00:00.042Z',
      source: 'guard',
      fields: {
        event: 'origin_failure',
        reference: 'ref',
        ip: '203.0.113.7',
        host: 'app.example.com',
        status: 503,
        reason: 'the origin refuses connections',
        origin: '127.0.0.1:9000',
        failures: 1,
      },
    },
  ]);
});

test('of a handshake that failed is told what the TLS library said, or else what HAProxy did', () => {
  const { told, failures } = given();
  const failure = 'SSL handshake failure';
  failures.note(line({ failure, tls: 'error:0A000086:SSL routines::certificate verify failed' }));
  failures.note(line({ failure, tls: '-' }));
  expect(told.map(({ message }) => message)).toEqual([
    'Request failed: TLS with the origin failed: certificate verify failed',
    'Request failed: TLS with the origin failed: SSL handshake failure',
  ]);
});

test('what follows is summed up, and none is lost', () => {
  const { told, failures } = given();
  for (let i = 0; i < 5_000; i++) failures.note(line());
  expect(told).toHaveLength(1);
  vi.advanceTimersByTime(10_000);
  expect(told[1]).toMatchObject({ message: '4999 more requests failed: the origin refuses connections' });
  vi.advanceTimersByTime(60_000);
  expect(told.map(({ fields }) => fields.failures)).toEqual([1, 4_999]);
  // It has been quiet since, so this is news.
  failures.note(line());
  expect(told).toHaveLength(3);
});

test('another origin, or another reason, is told apart', () => {
  const { told, failures } = given();
  failures.note(line());
  failures.note(line({ origin: '127.0.0.1:9001' }));
  failures.note(line({ status: 504, termination: 'sH' }));
  expect(told.map(({ message }) => message)).toEqual([
    'Request failed: the origin refuses connections',
    'Request failed: the origin refuses connections',
    'Request failed: the origin did not answer in time',
  ]);
});

test('however many origins fail, entries are few and all failures counted', () => {
  const { told, failures } = given();
  for (let i = 0; i < 30_000; i++) failures.note(line({ origin: `10.0.${i >> 8}.${i & 255}:80` }));
  expect(told.length).toBeLessThanOrEqual(101);
  vi.advanceTimersByTime(20_000);
  expect(told.reduce((sum, { fields }) => sum + Number(fields.failures), 0)).toBe(30_000);
});

test('refusals, answers of the origin itself and clients that went away are none', () => {
  const { told, failures } = given();
  failures.note(line({ refused: 'guard' }));
  failures.note(line({ status: 500, termination: '--' }));
  failures.note(line({ status: 400, termination: 'CR' }));
  expect(told).toEqual([]);
});
