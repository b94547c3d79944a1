import { Registry } from '@prometheus-io/client';
import type { TrafficCounters } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { registerTrafficMetrics } from './metrics.ts';

test('requests are told by the class of their status as HAProxy has counted them, and not at all while it is away', async () => {
  const requests = { '1xx': 1, '2xx': 2, '3xx': 3, '4xx': 4, '5xx': 5, other: 6 };
  let counters: TrafficCounters | undefined = { requests, bytesIn: 7, bytesOut: 8 };
  const registry = new Registry();
  registerTrafficMetrics(registry, async () => counters);
  const scraped = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('sallyport_'));
  const told = Object.entries(requests).map(
    ([name, count]) => `sallyport_proxy_requests_total{class="${name}"} ${count}`,
  );
  expect(await scraped()).toEqual(told);
  // Nothing is added to what the scrape before told.
  expect(await scraped()).toEqual(told);
  counters = undefined;
  expect(await scraped()).toEqual([]);
  expect((await registry.getMetricsAsJSON())[0]?.help).toMatch(/^Requests that ended/);
});
