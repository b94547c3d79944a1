import { expect, test } from 'vitest';
import { createMutex } from './mutex.ts';

test('tasks run one after the other, in the order they were given; one that fails holds up none', async () => {
  const exclusively = createMutex();
  const order: string[] = [];
  const task = (name: string) => async () => {
    order.push(`${name} begins`);
    await Promise.resolve();
    order.push(`${name} ends`);
    return name;
  };
  const first = Promise.withResolvers<void>();
  const results = await Promise.allSettled([
    exclusively(async () => {
      order.push('first begins');
      await first.promise;
      order.push('first ends');
      throw new Error('failed');
    }),
    exclusively(task('second')),
    exclusively(async () => {
      first.resolve();
    }).catch(() => {}),
    (async () => {
      // Given later than the others, and while the first one is under way.
      expect(order).toEqual([]);
      await Promise.resolve();
      expect(order).toEqual(['first begins']);
      first.resolve();
    })(),
    exclusively(task('third')),
  ]);
  expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends', 'third begins', 'third ends']);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)))).toEqual([
    'Error: failed',
    'second',
    undefined,
    undefined,
    'third',
  ]);
});
