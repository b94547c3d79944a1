/**
 * Gathers what is asked for until the running pass is done, so that any number of callers wait for one pass. `none` makes an
 * empty batch, `run` is given each in its turn.
 */
export const createBatches = <Batch>(none: () => Batch, run: (batch: Batch) => Promise<void>) => {
  let waiting = none();
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  return {
    /** Adds to the next batch; settles as its pass does. */
    enqueue(add: (batch: Batch) => void): Promise<void> {
      add(waiting);
      // A batch that failed has told its own callers; the next one starts all the same.
      next ??= running
        .catch(() => {})
        .then(() => {
          const batch = waiting;
          waiting = none();
          next = undefined;
          running = run(batch);
          return running;
        });
      return next;
    },

    /** Resolves when the running pass is over, however it ends. */
    idle: (): Promise<void> => running.catch(() => {}),
  };
};
