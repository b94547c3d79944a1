import { Counter, collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { gaugesOf } from './gauges.ts';

/** What the data plane tells about itself for the metrics. */
export interface PlaneStatus {
  connection: { state: 'connected' | 'disconnected' };
  hosts: number;
  appliedRevision: number;
  lastReconcileMs: number | null;
  quarantined: number;
}

/** Makes the registry behind GET /metrics; gauges of the data plane are read when they are asked for. */
export const createMetrics = (status: () => PlaneStatus) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = gaugesOf(registry);
  gauge('sallyport_dataplane_up', 'Whether HAProxy answers on its runtime socket', () =>
    status().connection.state === 'connected' ? 1 : 0,
  );
  gauge('sallyport_dataplane_hosts', 'Proxy hosts that HAProxy was read back to serve', () => status().hosts);
  gauge('sallyport_dataplane_applied_revision', 'Revision of the store that is live', () => status().appliedRevision);
  gauge(
    'sallyport_dataplane_reconcile_seconds',
    'Duration of the last full reconcile',
    () => (status().lastReconcileMs ?? 0) / 1000,
  );
  gauge('sallyport_dataplane_quarantined_hosts', 'Proxy hosts that are not applied', () => status().quarantined);
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  return {
    registry,
    waf: {
      requests: counter('svc_waf_requests_total', 'Requests the web application firewall judged'),
      blocked: counter('svc_waf_blocked_total', 'Requests the web application firewall blocked'),
      monitored: counter('svc_waf_monitored_total', 'Requests that would have been blocked in block mode'),
    },
  };
};
export type Metrics = ReturnType<typeof createMetrics>;
