import type { Logger } from 'pino';

/**
 * Repeats `work` with a pause of `pauseMs` before each turn until stopped. Failures don't end it; what fails in the same way turn after
 * turn is logged once.
 */
export const repeat = (
  name: string,
  pauseMs: number,
  work: () => Promise<void>,
  log: Logger,
): { stop(): Promise<void> } => {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  let lastFailure: string | undefined;
  const turn = async (): Promise<void> => {
    try {
      await work();
      lastFailure = undefined;
    } catch (err) {
      const failure = String(err);
      if (failure !== lastFailure) log.error({ err, name }, 'background work failed');
      lastFailure = failure;
    }
  };
  const schedule = () => {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = turn().then(schedule);
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
