import { Registry } from '@prometheus-io/client';
import { VERDICT_SECONDS_BOUNDS } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { registerSecurityMetrics, type SecurityFigures } from './metrics.ts';

const scraped = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

const given = () => {
  const guards = {
    ...{ access_denied: 21, unjudged: 22, dropped_messages: 23 },
    verdict_seconds: { sum: 1.5, buckets: [4, 0, 3, ...VERDICT_SECONDS_BOUNDS.slice(2).map(() => 0)] },
    revisions: new Map([
      [0, 31],
      [1, 32],
    ]),
  };
  const state = { bans: 11, applied: true, guards };
  const figures: SecurityFigures = {
    bans: () => state.bans,
    enforcement: () => ({ applied: state.applied, revision: 12 }),
    notifications: () => ({ delivered: 1, failed: 2, dropped: 3, retried: 4, filtered: 5, queued: 6 }),
    logs: () => ({ readers: 7, cutOff: 8, invalid: 9 }),
    blocks: () => ({ dropped: 10 }),
    guards: () => state.guards,
  };
  const registry = new Registry();
  registerSecurityMetrics(registry, figures);
  return { state, registry };
};

test('each figure has its name, as the guide lists them', async () => {
  const { registry } = given();
  const plain = (await scraped(registry)).filter((line) => !line.includes('{'));
  expect(plain.sort()).toEqual([
    'sallyport_access_denied_total 21',
    'sallyport_blocks_dropped_total 10',
    'sallyport_guard_messages_dropped_total 23',
    'sallyport_guard_verdict_seconds_count 7',
    'sallyport_guard_verdict_seconds_sum 1.5',
    'sallyport_log_lines_invalid_total 9',
    'sallyport_log_readers 7',
    'sallyport_log_readers_cut_off_total 8',
    'sallyport_notifications_delivered_total 1',
    'sallyport_notifications_dropped_total 3',
    'sallyport_notifications_failed_total 2',
    'sallyport_notifications_filtered_total 5',
    'sallyport_notifications_queued 6',
    'sallyport_notifications_retried_total 4',
    'sallyport_security_applied 1',
    'sallyport_security_bans 11',
    'sallyport_security_revision 12',
    'sallyport_unjudged_total 22',
  ]);
});

test('every metric says what it is', async () => {
  const { registry } = given();
  const all = await registry.getMetricsAsJSON();
  expect(all.length).toBe(20);
  for (const { name, help } of all) expect(help, name).toMatch(/^[A-Z].{5,}$/);
});

test('how long verdicts took is told in buckets that hold those before them', async () => {
  const { registry } = given();
  const buckets = (await scraped(registry)).filter((line) => line.startsWith('sallyport_guard_verdict_seconds_bucket'));
  expect(buckets[0]).toMatch(/^sallyport_guard_verdict_seconds_bucket\{le="0\.\d+"\} 4$/);
  expect(buckets.map((line) => line.split(' ')[1]).slice(0, 4)).toEqual(['4', '4', '7', '7']);
  expect(buckets.at(-1)).toBe('sallyport_guard_verdict_seconds_bucket{le="+Inf"} 7');
});

test('a scrape tells of this moment: nothing is added to the one before, and who went is gone', async () => {
  const { registry, state } = given();
  const before = await scraped(registry);
  expect(before).toContain('sallyport_guard_revision{worker="0"} 31');
  expect(before).toContain('sallyport_guard_revision{worker="1"} 32');
  expect(await scraped(registry)).toEqual(before);
  state.applied = false;
  state.guards = { ...state.guards, unjudged: 2, revisions: new Map([[1, 33]]) };
  const after = await scraped(registry);
  expect(after).toContain('sallyport_security_applied 0');
  // Counters that are kept elsewhere begin anew with it.
  expect(after).toContain('sallyport_unjudged_total 2');
  expect(after.filter((line) => line.startsWith('sallyport_guard_revision'))).toEqual([
    'sallyport_guard_revision{worker="1"} 33',
  ]);
});
