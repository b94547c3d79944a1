import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { explanationOf, outdated, readExplained } from './explained.ts';
import { renderTable, scoresOf } from './report.ts';
import { makeSandbox } from './sandbox.ts';
import { createTestRunner } from './test-runner.ts';
import { testsOf } from './tests-of.ts';
import { type Tried, tryMutants } from './try-mutants.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true },
    names: { type: 'string' },
    most: { type: 'string' },
    out: { type: 'string', default: 'node_modules/.cache/mutate.json' },
  },
});
if (positionals.length === 0) {
  console.error('npm run mutate FOLDER… [-- --tests PATH… --only PATH… --names PATTERN --most FAULTS --out FILE]');
  process.exit(2);
}

const sourceFiles = positionals
  .flatMap((path) =>
    path.endsWith('.ts')
      ? [path]
      : globSync('**/*.ts', { cwd: join(repository, path) }).map((name) => join(relative('.', path), name)),
  )
  .filter((file) => !file.endsWith('.test.ts') && !/\/testing\/|node_modules/.test(file))
  .sort();

let endCode: number | undefined;
const endBy = (code: number) => {
  endCode ??= code;
  void runner.stop();
};
// Before the copy is made, and however often: npm passes on what a terminal has sent already.
process.on('SIGHUP', () => endBy(129));
process.on('SIGINT', () => endBy(130));
process.on('SIGTERM', () => endBy(143));

const sandbox = makeSandbox(repository);
// After the tests have ended: what still ran would write into it.
process.once('exit', () => sandbox.remove());
const runner = createTestRunner(sandbox, values.names);
const explained = readExplained();
const all: Tried[] = [];
try {
  for (const file of sourceFiles) {
    const tests = testsOf(sandbox.root, file, [...values.tests, ...(values.only ?? [])]).filter(
      (test) => values.only?.some((path) => test.startsWith(path)) ?? true,
    );
    const startedAt = Date.now();
    const tried = await tryMutants(file, tests, {
      sandbox,
      runner,
      ...(values.most === undefined ? {} : { most: Number(values.most) }),
      isExplained: (mutant) => explanationOf(explained, mutant) !== undefined,
      onTried({ mutant, fate }) {
        if (fate !== 'survived' && fate !== 'not reached') return;
        console.log(`${fate}: ${file}:${mutant.line} [${mutant.kind}] ${mutant.change}\n    ${mutant.code}`);
      },
    });
    all.push(...tried);
    const mutants = tried.map(({ mutant }) => mutant);
    // What a sample leaves out says nothing.
    for (const { code, within } of values.most === undefined ? outdated(explained, file, mutants) : [])
      console.log(`explained.json: nothing is left of ${code ?? within} in ${file}`);
    const [score] = scoresOf(tried, () => file);
    if (score)
      console.log(
        `${file}: ${score.noticed + score.explained} of ${score.mutants}, ${Math.round((Date.now() - startedAt) / 1000)} s, ${tests.length} test files`,
      );
    mkdirSync(join(repository, 'node_modules/.cache'), { recursive: true });
    writeFileSync(resolve(repository, values.out), JSON.stringify(all, undefined, 1));
  }
} catch (error) {
  if (endCode === undefined) throw error;
} finally {
  await runner.stop();
}
if (endCode !== undefined) process.exit(endCode);
console.log(renderTable(scoresOf(all, (file) => file.slice(0, file.lastIndexOf('/')))));
