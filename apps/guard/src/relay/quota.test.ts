import { expect, test } from 'vitest';
import { createQuota } from './quota.ts';

const greedily = (quota: ReturnType<typeof createQuota>, client: string): number => {
  let taken = 0;
  while (quota.take(client, 1)) taken++;
  return taken;
};

test('a client alone has its share, and several that take all they can get leave room to a new one', () => {
  const quota = createQuota({ total: 1_024, share: 256 });
  expect(['a', 'b', 'c', 'd'].map((client) => greedily(quota, client))).toEqual([256, 256, 256, 128]);
  expect(quota.take('e', 64)).toBe(true);
  expect(quota.take('e', 1)).toBe(false);
});

test('what was given back is there again, and a client alone may have all that its share allows', () => {
  const quota = createQuota({ total: 10, share: 10 });
  expect(quota.take('a', 10)).toBe(true);
  expect(quota.take('b', 1)).toBe(false);
  quota.give('a', 10);
  expect(quota.take('b', 5)).toBe(true);
  expect(quota.take('a', 5)).toBe(false);
});
