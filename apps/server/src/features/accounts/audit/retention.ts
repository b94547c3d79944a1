import type { Audit } from '@sallyport/store/audit/service';
import type { Logger } from 'pino';

export interface RetentionDeps {
  audit: Pick<Audit, 'prune'>;
  /** Days to keep entries; 0 = for ever. */
  retentionDays: () => Promise<number>;
  log: Logger;
}

const INTERVAL_MS = 3_600_000;

/** Prunes the audit trail now and every hour. */
export const startRetention = ({ audit, retentionDays, log }: RetentionDeps): { stop(): Promise<void> } => {
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      const removed = await audit.prune(await retentionDays());
      if (removed > 0) log.info({ removed }, 'old audit entries removed');
    } catch (err) {
      log.error({ err }, 'removing old audit entries failed');
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
