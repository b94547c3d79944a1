import { Gauge, type Registry } from '@prometheus-io/client';

/** Adds a gauge to the metrics whose value is read when they are asked for. */
export type AddGauge = (name: string, help: string, read: () => number) => void;

/** Makes what adds gauges to a registry. */
export const gaugesOf =
  (registry: Registry): AddGauge =>
  (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
