/** Runs tasks one after the other, in the order they were given. */
export type Mutex = <T>(task: () => Promise<T>) => Promise<T>;

export const createMutex = (): Mutex => {
  let tail: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = tail.then(task);
    tail = result.catch(() => undefined);
    return result;
  };
};
