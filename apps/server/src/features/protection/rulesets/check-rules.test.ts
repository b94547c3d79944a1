import { expect, test } from 'vitest';
import { createRuleCheck } from './check-rules.ts';

const given = () =>
  createRuleCheck(
    () => undefined,
    async () => 1_000_000,
  );

test('more looks than a few at once are refused, and one that nobody waits for costs nothing', async () => {
  const { tell } = given();
  let waitsOn = 0;
  const look = () =>
    tell({ name: 'x', content: 'SecRuul', mode: 'custom' }, () => {
      waitsOn += 1;
      return false;
    });
  const answers = await Promise.allSettled(Array.from({ length: 10 }, look));
  const refused = { status: 'rejected', reason: { status: 429, headers: { 'retry-after': '5' } } };
  expect(answers.slice(8)).toMatchObject([refused, refused]);
  // It was not compiled: then there were errors.
  expect(answers.slice(0, 8)).toEqual(
    Array(8).fill({ status: 'fulfilled', value: { rule_count: null, errors: [], warnings: [] } }),
  );
  expect(waitsOn).toBe(8);
  await expect(look()).resolves.toMatchObject({ errors: [] });
});

test('rules that take others out are no fewer than none', async () => {
  const { check } = given();
  await expect(check('x', 'SecAction "id:7,pass"\nSecRuleRemoveById 9000000-9999999', 'custom')).resolves.toBe(1);
});
