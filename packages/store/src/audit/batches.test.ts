import { expect, test } from 'vitest';
import { createBatches } from './batches.ts';

test('writes what comes together in few batches, in order, and tells each caller', async () => {
  const written: number[][] = [];
  const add = createBatches<number>(async (items) => {
    written.push([...items]);
  }, 20);
  await Promise.all(Array.from({ length: 50 }, (_, n) => add(n)));
  await add(50);
  expect(written.flat()).toEqual(Array.from({ length: 51 }, (_, n) => n));
  expect(written.length).toBeLessThanOrEqual(3);
});

test('fails those whose batch failed, and goes on with the next', async () => {
  let isBroken = true;
  const add = createBatches<string>(async () => {
    if (isBroken) throw new Error('disk full');
  }, 1);
  const settled = await Promise.allSettled([add('a'), add('b')]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  await expect(add('c')).resolves.toBeUndefined();
});

test('writes the first one at once, and the next ones no sooner than may be', async () => {
  const unhurried = createBatches<number>(async () => {}, 3_600_000);
  await unhurried(1);

  const starts: number[] = [];
  const add = createBatches<number>(async () => {
    starts.push(performance.now());
  }, 50);
  for (let n = 0; n < 3; n += 1) await add(n);
  const [first = 0, second = 0, third = 0] = starts;
  // A timer may be a millisecond early.
  expect(second - first).toBeGreaterThan(45);
  expect(third - second).toBeGreaterThan(45);
});
