import { Registry } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { createMetrics, type PlaneStatus } from './metrics.ts';
import { registerUnjudgedMetrics, type Unjudged } from './unjudged-metrics.ts';

const linesOf = async (registry: Registry, begin: RegExp): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => begin.test(line));

const STATUS: PlaneStatus = {
  connection: { state: 'connected' },
  ...{ hosts: 5, appliedRevision: 42, lastReconcileMs: 1_500, quarantined: 2 },
};

test('the data plane is told as it is at the moment of the scrape', async () => {
  let status = STATUS;
  const { registry, waf } = createMetrics(() => status);
  const scraped = () => linesOf(registry, /^sallyport_/);
  expect((await scraped()).sort()).toEqual([
    'sallyport_dataplane_applied_revision 42',
    'sallyport_dataplane_hosts 5',
    'sallyport_dataplane_quarantined_hosts 2',
    'sallyport_dataplane_reconcile_seconds 1.5',
    'sallyport_dataplane_up 1',
  ]);
  status = { ...STATUS, connection: { state: 'disconnected' }, lastReconcileMs: null };
  const after = await scraped();
  expect(after).toContain('sallyport_dataplane_up 0');
  expect(after).toContain('sallyport_dataplane_reconcile_seconds 0');

  waf.requests.inc(3);
  waf.blocked.inc(2);
  waf.monitored.inc();
  expect((await linesOf(registry, /^svc_/)).sort()).toEqual([
    'svc_waf_blocked_total 2',
    'svc_waf_monitored_total 1',
    'svc_waf_requests_total 3',
  ]);
  expect(await linesOf(registry, /^process_resident_memory_bytes \d/)).toHaveLength(1);
  for (const { name, help } of await registry.getMetricsAsJSON()) expect(help, name).toMatch(/^.{5,}$/);
});

test('requests without a verdict are those that HAProxy tells of; what it can not tell takes no other metric with it', async () => {
  const registry = new Registry();
  let read: () => Promise<Unjudged | undefined> = async () => ({ refused: 7, passed: 3 });
  registerUnjudgedMetrics(registry, () => read());
  const scraped = () => linesOf(registry, /^sallyport_proxy_unjudged_total/);
  const both = [
    'sallyport_proxy_unjudged_total{outcome="refused"} 7',
    'sallyport_proxy_unjudged_total{outcome="passed"} 3',
  ];
  expect(await scraped()).toEqual(both);
  expect(await scraped()).toEqual(both);
  for (const nothing of [async () => undefined, () => Promise.reject(new Error('what nobody understands'))]) {
    read = nothing;
    expect(await scraped()).toEqual([]);
  }
});
