import { Counter, type Registry } from '@prometheus-io/client';

/** Requests that no guard has judged, since HAProxy started. */
export interface Unjudged {
  /** Answered with 503. */
  refused: number;
  /** Passed on, because `waf_fail_mode` is `open`. */
  passed: number;
}

/** Adds the requests without a verdict to the metrics; `read` gives undefined while HAProxy does not answer, and may reject. */
export const registerUnjudgedMetrics = (registry: Registry, read: () => Promise<Unjudged | undefined>): void => {
  new Counter({
    name: 'sallyport_proxy_unjudged_total',
    help: 'Requests without a verdict of a guard',
    labelNames: ['outcome'],
    registers: [registry],
    async collect() {
      // What nobody understands must not take all other metrics with it.
      const counts = await read().catch(() => undefined);
      this.reset();
      if (!counts) return;
      this.inc({ outcome: 'refused' }, counts.refused);
      this.inc({ outcome: 'passed' }, counts.passed);
    },
  });
};
