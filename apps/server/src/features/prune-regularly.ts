import type { Logger } from 'pino';

interface Pruning {
  intervalMs: number;
  /** Removes what is too old; resolves with how much that was. */
  prune: () => Promise<number>;
  /** What the log says of it. */
  says: { removed: string; failed: string };
  log: Logger;
}

/** Prunes now and then again and again, one after the other; a failure is logged, and the next turn tries again. */
export const pruneRegularly = ({ intervalMs, prune, says, log }: Pruning): { stop(): Promise<void> } => {
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      const removed = await prune();
      if (removed > 0) log.info({ removed }, says.removed);
    } catch (err) {
      log.error({ err }, says.failed);
    }
  };
  const start = () => {
    running = running.then(run);
  };
  const timer = setInterval(start, intervalMs);
  start();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
};
