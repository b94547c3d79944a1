import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
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

test('rules that are not right are refused with the first mistake, and all of them beside it', async () => {
  const { check } = given();
  const refusal = (content: string) => check('mine', content, 'custom').catch((error: unknown) => error);
  const second = 'line 2, column 1: There is no such directive';
  const invalid = { status: 400, message: `content is not valid: ${second}`, details: undefined };
  expect(await refusal('SecAction "id:7,pass"\nSecRuul')).toMatchObject(invalid);
  const first = 'line 1, column 1: There is no such directive';
  expect(await refusal('SecRuul\nSecRuul')).toMatchObject({
    ...{ status: 400, message: `content is not valid: ${first}`, details: `${first}\n${second}` },
  });
});

test('a look tells where mistakes and doubts are, and that of its own text no file', async () => {
  const { tell } = given();
  const look = (content: string) => tell({ name: 'mine', content, mode: 'custom' }, () => true);
  expect(await look('SecAction "id:7,pass"')).toEqual({ rule_count: 1, errors: [], warnings: [] });
  const { rule_count, errors } = await look('\n  SecRuul');
  expect(rule_count).toBeNull();
  expect(errors).toMatchObject([
    { line: 2, column: 3, message: 'There is no such directive', token: 'SecRuul', file: null },
  ]);
});

test('the Core Rule Set is asked for only by rules that go with it', async () => {
  const { check, tell } = given();
  await expect(check('x', 'SecAction "id:7,pass"', 'owasp')).rejects.toThrow(
    'mode owasp needs the Core Rule Set, which is not installed (package modsecurity-crs)',
  );
  const missing = { name: 'x', content: '', mode: 'owasp' } as const;
  await expect(tell(missing, () => true)).rejects.toMatchObject({ status: 400 });
});

test('rules that go with the Core Rule Set are looked at among its own, and what is wrong there is told with its file', () =>
  withTemporaryDirectory(async (directory) => {
    const [setup, rules] = [join(directory, 'setup.conf'), join(directory, 'rules.conf')];
    writeFileSync(setup, 'SecRuleEngine On\n');
    writeFileSync(rules, 'SecAction "id:1001,phase:1,pass"\n');
    const core = { directory, setup: [setup], rules: [rules] };
    const { check, tell } = createRuleCheck(
      () => core,
      async () => 1_000_000,
    );
    const own = 'SecAction "id:7,pass"';
    await expect(check('mine', own, 'owasp')).resolves.toBe(1);
    // Its ids are taken, unless rules stand alone.
    const taken = 'SecAction "id:1001,pass"';
    await expect(check('mine', taken, 'custom')).resolves.toBe(1);
    await expect(check('mine', taken, 'owasp')).rejects.toMatchObject({
      ...{ status: 400, message: expect.stringMatching(/^content is not valid: line 1, .* \(in .*rules\.conf\)$/) },
    });
    const { errors } = await tell({ name: 'mine', content: taken, mode: 'owasp' }, () => true);
    expect(errors).toMatchObject([{ file: rules }]);
  }));
