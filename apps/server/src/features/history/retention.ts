import type { Executor } from '@sallyport/store/database/open';
import { pruneHistory } from '@sallyport/store/history/prune';
import type { Logger } from 'pino';
import { pruneRegularly } from '../prune-regularly.ts';
import type { Settings } from '../system/index.ts';

export interface RetentionDeps {
  db: Executor;
  settings: Pick<Settings, 'read'>;
  clock: () => Date;
  log: Logger;
}

const MEGABYTE = 1024 * 1024;

/** Prunes the history now and every ten minutes. */
export const startRetention = ({ db, settings, clock, log }: RetentionDeps): { stop(): Promise<void> } =>
  pruneRegularly({
    intervalMs: 600_000,
    prune: async () => {
      const days = Number(await settings.read('history.retention_days'));
      const bytes = Number(await settings.read('history.max_megabytes')) * MEGABYTE;
      return pruneHistory(db, clock(), { days, bytes });
    },
    says: {
      removed: 'old changes removed from the history',
      failed: 'removing old changes from the history failed',
    },
    log,
  });
