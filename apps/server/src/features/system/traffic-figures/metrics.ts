import { Counter, type Registry } from '@prometheus-io/client';
import { answerClasses, type TrafficCounters } from '@sallyport/haproxy';

/** Adds what HAProxy counted since it started to the metrics; `read` gives undefined while HAProxy does not answer. */
export const registerTrafficMetrics = (registry: Registry, read: () => Promise<TrafficCounters | undefined>): void => {
  new Counter({
    name: 'sallyport_proxy_requests_total',
    help: 'Requests that ended at HAProxy, by the class of their status',
    labelNames: ['class'],
    registers: [registry],
    async collect() {
      const counters = await read();
      this.reset();
      if (!counters) return;
      for (const name of answerClasses) this.inc({ class: name }, counters.requests[name]);
    },
  });
};
