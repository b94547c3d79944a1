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
  await expect(Promise.all([add('a'), add('b')])).rejects.toThrow('disk full');
  isBroken = false;
  await expect(add('c')).resolves.toBeUndefined();
});
