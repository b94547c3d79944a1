import type { DataPlaneEvent } from '@sallyport/haproxy';
import type { Logger } from 'pino';
import { repeat } from '../repeat.ts';
import type { Plane } from './plane.ts';

export interface WatchDeps {
  plane: Plane;
  log: Logger;
}

/** How often origin names are looked up again; container addresses change when a container is replaced. */
const ORIGIN_REFRESH_MS = 15_000;
/** How often everything is compared, to repair what nobody told us about. */
const FULL_RECONCILE_MS = 10 * 60_000;

/** How soon a change is made up for that could not be taken along, e.g. because the store was away or the disk full. */
const CATCH_UP_MS = 1_000;

/**
 * Keeps the data plane right without anybody asking: reconciles at start, after every restart of HAProxy and from time
 * to time, and refreshes the addresses of origins.
 */
export const watchDataPlane = ({ plane, log }: WatchDeps) => {
  let repair: Promise<void> = Promise.resolve();
  let isQueued = false;
  let isStopped = false;
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    repair = repair.then(work).catch((err: unknown) => {
      log.error({ err }, 'reconcile failed');
    });
    return repair;
  };
  const reconcile = (): Promise<void> => {
    if (isQueued) return repair;
    isQueued = true;
    return inTurn(() => {
      isQueued = false;
      return plane.reconcile();
    });
  };
  void reconcile();
  const jobs = [
    repeat('refresh origins', ORIGIN_REFRESH_MS, plane.refreshOrigins, log),
    repeat('reconcile', FULL_RECONCILE_MS, reconcile, log),
    repeat('catch up', CATCH_UP_MS, async () => (plane.isBehind() ? reconcile() : undefined), log),
  ];
  return {
    /** Compares everything once more, after what is under way. */
    reconcile,

    onEvent(event: DataPlaneEvent): void {
      // Our own leaving is no news.
      if (isStopped) return;
      const { type: _, ...fields } = event;
      switch (event.type) {
        case 'connected':
          log.info(fields, 'connected to HAProxy');
          void inTurn(event.isRepaired ? plane.confirm : plane.catchUp);
          return;
        case 'disconnected':
          log.warn(fields, 'HAProxy does not answer');
          plane.lost(`HAProxy is not running: ${event.reason}`);
          return;
        case 'fold failed':
        case 'change failed':
          log.error({ err: event.err }, event.type);
          return;
        default:
          event satisfies never;
      }
    },

    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(jobs.map((job) => job.stop()));
      await repair;
    },
  };
};
