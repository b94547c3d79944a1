import { setTimeout as delay } from 'node:timers/promises';

/**
 * Gathers items so that `write` runs at most once in `intervalMs`: the first one goes at once, those that follow
 * quickly go together. Each caller waits until its own item is written, and gets the failure of its batch.
 */
export const createBatches = <T>(write: (items: readonly T[]) => Promise<void>, intervalMs: number) => {
  let batch: { items: T[]; written: Promise<void> } | undefined;
  let lastStart = Number.NEGATIVE_INFINITY;

  const run = async (items: readonly T[]): Promise<void> => {
    await delay(Math.max(0, lastStart + intervalMs - performance.now()));
    batch = undefined;
    lastStart = performance.now();
    await write(items);
  };

  return (item: T): Promise<void> => {
    if (batch) {
      batch.items.push(item);
      return batch.written;
    }
    const items = [item];
    batch = { items, written: run(items) };
    return batch.written;
  };
};
