import { expect, test } from 'vitest';
import { createBudget } from './budget.ts';

const taken = (budget: ReturnType<typeof createBudget>, clients: number, each: number, status: number): number => {
  let count = 0;
  for (let client = 0; client < clients; client += 1) {
    for (let index = 0; index < each; index += 1) if (budget.take(`c${client}`, status)) count += 1;
  }
  return count;
};

test('one client takes a hundred lines a second, and all together a thousand', () => {
  let now = 0;
  const budget = createBudget(() => now);
  expect(taken(budget, 1, 5_000, 404)).toBe(100);
  expect(taken(budget, 50, 100, 404)).toBe(900);
  now = 1_000;
  expect(taken(budget, 1, 5_000, 404)).toBe(100);
});

test('has a second of the clock by itself', () => {
  expect(taken(createBudget(), 1, 5, 404)).toBe(5);
});

test('however many requests go well, there is room for those that do not', () => {
  const budget = createBudget(() => 0);
  expect(taken(budget, 2_000, 1, 200)).toBe(500);
  expect(taken(budget, 1, 10, 403)).toBe(10);
});
