import type { Logger } from 'pino';

/** Repeats `work` with a pause of `pauseMs` before each turn until stopped; failures are logged and don't end it. */
export const repeat = (
  name: string,
  pauseMs: number,
  work: () => Promise<void>,
  log: Logger,
): { stop(): Promise<void> } => {
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
