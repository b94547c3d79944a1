import type { DataPlane } from '@sallyport/haproxy';
import type { Logger } from 'pino';
import type { Plane } from './plane.ts';

export interface WatchDeps {
  plane: Plane;
  driver: DataPlane;
  log: Logger;
}

/** How often origin names are looked up again; container addresses change when a container is replaced. */
const ORIGIN_REFRESH_MS = 15_000;
/** How often everything is compared, to repair what nobody told us about. */
const FULL_RECONCILE_MS = 10 * 60_000;

/** Repeats `work` forever with a pause in between; failures are logged and don't end it. */
const repeat = (name: string, pauseMs: number, work: () => Promise<void>, log: Logger) => {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  const schedule = () => {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = work()
        .catch((err: unknown) => log.error({ err, name }, 'background work failed'))
        .then(schedule);
    }, pauseMs);
    timer.unref();
  };
  schedule();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};

/** Keeps the data plane right without anybody asking: refreshes origin addresses and reconciles from time to time. */
export const watchDataPlane = ({ plane, log }: WatchDeps): { stop(): Promise<void> } => {
  const jobs = [
    repeat('refresh origins', ORIGIN_REFRESH_MS, plane.refreshOrigins, log),
    repeat('reconcile', FULL_RECONCILE_MS, plane.reconcile, log),
  ];
  return {
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
};
