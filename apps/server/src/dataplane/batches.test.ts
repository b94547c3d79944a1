import { expect, test } from 'vitest';
import { createBatches } from './batches.ts';

const given = () => {
  const passes: { ids: number[]; settle: PromiseWithResolvers<void> }[] = [];
  const batches = createBatches(
    () => new Set<number>(),
    (batch) => {
      const settle = Promise.withResolvers<void>();
      passes.push({ ids: [...batch], settle });
      return settle.promise;
    },
  );
  const enqueue = (id: number) =>
    batches
      .enqueue((batch) => void batch.add(id))
      .then(
        () => `${id} done`,
        (error: Error) => `${id}: ${error.message}`,
      );
  return { batches, passes, enqueue, started: () => passes.map(({ ids }) => ids) };
};

/** Everything that is ready to run has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what is asked for during a pass is one pass after it, whose end all of its callers wait for', async () => {
  const { passes, enqueue, started } = given();
  const first = [enqueue(1), enqueue(2)];
  await settled();
  expect(started()).toEqual([[1, 2]]);
  const over: string[] = [];
  const second = [enqueue(3), enqueue(4), enqueue(3)].map((done) => done.then((word) => over.push(word)));
  await settled();
  // Never two at a time.
  expect(started()).toEqual([[1, 2]]);
  passes[0]!.settle.resolve();
  expect(await Promise.all(first)).toEqual(['1 done', '2 done']);
  await settled();
  expect(started()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(over).toEqual([]);
  passes[1]!.settle.resolve();
  await Promise.all(second);
  expect(over).toEqual(['3 done', '4 done', '3 done']);
});

test('a pass that fails tells its own callers and no others, and the next one runs', async () => {
  const { batches, passes, enqueue, started } = given();
  const failing = enqueue(1);
  await settled();
  const after = enqueue(2);
  let isIdle = false;
  const idle = batches.idle().then(() => {
    isIdle = true;
  });
  await settled();
  expect(isIdle).toBe(false);
  passes[0]!.settle.reject(new Error('the disk is full'));
  await idle;
  expect(await failing).toBe('1: the disk is full');
  await settled();
  expect(started()).toEqual([[1], [2]]);
  passes[1]!.settle.resolve();
  expect(await after).toBe('2 done');
  await batches.idle();
});
