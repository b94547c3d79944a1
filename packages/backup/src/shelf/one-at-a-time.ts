/** Runs work after all work that was given before, whatever became of that. */
export const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    /** How much work was given that has not ended. */
    waiting: () => waiting,

    run<T>(work: () => Promise<T>): Promise<T> {
      waiting += 1;
      const run = last.then(work, work).finally(() => {
        waiting -= 1;
      });
      last = run.catch(() => {});
      return run;
    },
  };
};
