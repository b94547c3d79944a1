import type { Executor } from '@sallyport/store/database/open';
import { pruneHistory } from '@sallyport/store/history/prune';
import type { Logger } from 'pino';
import type { Settings } from '../system/index.ts';

export interface RetentionDeps {
  db: Executor;
  settings: Pick<Settings, 'read'>;
  clock: () => Date;
  log: Logger;
}

const INTERVAL_MS = 600_000;
const MEGABYTE = 1024 * 1024;

/** Prunes the history now and every ten minutes. */
export const startRetention = ({ db, settings, clock, log }: RetentionDeps): { stop(): Promise<void> } => {
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      const days = Number(await settings.read('history.retention_days'));
      const bytes = Number(await settings.read('history.max_megabytes')) * MEGABYTE;
      const removed = await pruneHistory(db, clock(), { days, bytes });
      if (removed > 0) log.info({ removed }, 'old changes removed from the history');
    } catch (err) {
      log.error({ err }, 'removing old changes from the history failed');
    }
  };
  const start = () => {
    running = running.then(run);
  };
  const timer = setInterval(start, INTERVAL_MS);
  start();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
};
