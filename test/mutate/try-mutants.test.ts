import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeSandbox } from './sandbox.ts';
import { createTestRunner } from './test-runner.ts';
import { spread, type Tried, tryMutants } from './try-mutants.ts';

const vitest = fileURLToPath(new URL('../../node_modules/vitest', import.meta.url));

const source = `export const clamp = (value: number, most: number): number => {
  if (value > most) return most;
  return value;
};
export const unused = (): number => 1 + 1;
export const countTo = (end: number): number => {
  let visited = 0;
  while (visited < end) visited++;
  return visited;
};
`;
const tests = `import { expect, test } from 'vitest';
import { clamp, countTo } from './clamp.ts';
test('clamps', () => expect([clamp(5, 3), clamp(2, 3)]).toEqual([3, 2]));
test('counts', () => expect(countTo(3)).toBe(3));
`;

const givenRepository = (files: Record<string, string>): string => {
  const root = mkdtempSync(join(tmpdir(), 'sallyport-mutate-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  mkdirSync(join(root, 'node_modules'));
  symlinkSync(vitest, join(root, 'node_modules/vitest'));
  execFileSync('git', ['init', '-q'], { cwd: root });
  return root;
};

test('tells the mutants that a test notices from those that none does', async () => {
  const repository = givenRepository({
    'package.json': '{ "type": "module" }',
    '.gitignore': 'node_modules\n',
    'clamp.ts': source,
    'clamp.test.ts': tests,
  });
  const sandbox = makeSandbox(repository);
  const runner = createTestRunner(sandbox, undefined);
  onTestFinished(async () => {
    await runner.stop();
    sandbox.remove();
  });
  const tried: Tried[] = [];
  await tryMutants('clamp.ts', ['clamp.test.ts'], {
    sandbox,
    runner,
    isExplained: ({ code, change }) => code === 'if (value > most) return most;' && change === 'value > most → true',
    onTried: (result) => tried.push(result),
    graceMs: 1_000,
  });
  const withFate = (fate: Tried['fate']) =>
    tried.filter((result) => result.fate === fate).map(({ mutant }) => `${mutant.line}: ${mutant.change}`);
  // At the limit either answer is the same one.
  expect(withFate('survived')).toEqual(['2: > → >=']);
  expect(withFate('not reached')).toEqual(['5: 1 + 1 → undefined', '5: + → -']);
  // It would be noticed; nobody tried.
  expect(withFate('explained')).toEqual(['2: value > most → true']);
  // It counts down, and never gets there.
  expect(withFate('too long')).toContain('8: visited++ → visited--');
  expect(tried.find(({ mutant }) => mutant.change === 'return most; → return;')).toMatchObject({
    fate: 'noticed',
    by: 'clamps',
  });
}, 120_000);

test('a sample is spread over all of them', () => {
  const ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  expect(spread(ten, 5)).toEqual([0, 2, 4, 6, 8]);
  expect(spread(ten, 3)).toEqual([0, 4, 7]);
  expect(spread(ten, 1)).toEqual([0]);
});
