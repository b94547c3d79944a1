import { Counter, Gauge, type Registry } from '@prometheus-io/client';

/** A page of metrics must not grow with the certificates of a large deployment. */
const MOST_CERTIFICATES = 1_000;

export interface OrderMetricsDeps {
  /** Certificates that expire first, so many at most. */
  soonest: (limit: number) => Promise<readonly { id: number; name: string; expires_at: string }[]>;
  clock: () => Date;
}

/** Adds when certificates expire, and what came of orders. */
export const registerOrderMetrics = (registry: Registry, { soonest, clock }: OrderMetricsDeps) => {
  const registers = [registry];
  new Gauge({
    name: 'sallyport_certificate_expiry_seconds',
    help: `Seconds until a certificate expires, negative once it has; of the ${MOST_CERTIFICATES} that expire first`,
    labelNames: ['id', 'name'],
    registers,
    async collect() {
      this.reset();
      // A store that is away must not take all other metrics with it.
      for (const { id, name, expires_at } of await soonest(MOST_CERTIFICATES).catch(() => [])) {
        this.set({ id: String(id), name }, (Date.parse(expires_at) - clock().getTime()) / 1_000);
      }
    },
  });
  return {
    orders: new Counter({
      name: 'sallyport_certificate_orders_total',
      help: 'Attempts to have or renew a certificate, by what came of them',
      labelNames: ['outcome'],
      registers,
    }),
  };
};
