import { expect, test } from 'vitest';
import { eventOf } from './outcome.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const nextAt = new Date('2026-11-22T12:05:00.000Z');
type Row = Parameters<typeof eventOf>[0]['row'];
const row = (more: Partial<Row> = {}) =>
  ({ uuid: 'u', name: 'Shop', names: 'shop.example.com', is_placeholder: 1, expires_at: '2036-01-01', ...more }) as Row;
const failed = (failures: number, of = row()) =>
  eventOf({ row: of, result: 'failed', issue: 'its DNS', failures, nextAt }, now);

test('the first failure is told, with when it is tried again, and then one a day', () => {
  expect(failed(1)).toMatchObject({
    event_type: 'certificate_failed',
    severity: 'error',
    message: 'The certificate Shop could not be had: its DNS; it is tried again at 2026-11-22T12:05:00.000Z',
  });
  expect([2, 3, 4, 5, 6].map((failures) => failed(failures) !== undefined)).toEqual([false, false, false, true, true]);
});

test('a renewal that failed is a warning while the old one is good', () => {
  const there = { is_placeholder: 0, expires_at: '2026-12-22T12:00:00.000Z' };
  expect(failed(1, row(there))).toMatchObject({ severity: 'warn', details: { expires_at: there.expires_at } });
  expect(failed(1, row({ ...there, expires_at: '2026-11-21T12:00:00.000Z' }))?.severity).toBe('error');
});

test('a certificate that was had is told with its names and its end', () => {
  const certificate = { domains: 'shop.example.com', expires_at: '2027-02-20T12:00:00.000Z' } as never;
  expect(eventOf({ row: row(), result: 'issued', certificate }, now)).toEqual({
    ...{ event_type: 'certificate_renewed', severity: 'info', timestamp: now.toISOString() },
    message: 'The certificate Shop was issued; it expires on 2027-02-20T12:00:00.000Z',
    details: { certificate: 'u', names: 'shop.example.com', expires_at: '2027-02-20T12:00:00.000Z' },
  });
});
