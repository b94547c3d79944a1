import { inspect } from 'node:util';
import { createVitest, type TestModule } from 'vitest/node';
import type { Answer, Order } from './orders.ts';
import { descendsFrom, readProcesses } from './processes.ts';

/**
 * Runs tests for `test-runner.ts` in one warm process: modules that no mutant is in stay read and stripped of their types.
 * `MUTATE_ALONE` tells that it runs in a process namespace of its own, where every other process is a test's.
 */
const isAlone = process.env.MUTATE_ALONE === 'yes';

const vitest = await createVitest('test', {
  root: process.cwd(),
  watch: false,
  bail: 1,
  reporters: [{}],
  ...(process.env.MUTATE_TEST_NAMES ? { testNamePattern: process.env.MUTATE_TEST_NAMES } : {}),
});
const specifications = new Map((await vitest.globTestSpecifications()).map((found) => [found.moduleId, found]));

/** Processor time of the tests and all that they started, in milliseconds. */
const testTimes = (): ReadonlyMap<number, number> => {
  const processes = readProcesses();
  const ours = [...processes].filter(
    ([pid]) => pid !== process.pid && pid !== 1 && (isAlone || descendsFrom(processes, pid, process.pid)),
  );
  return new Map(ours.map(([pid, { processorMs }]) => [pid, processorMs]));
};

/** Ends what the tests left behind: what hangs on us (a PostgreSQL that all share) stays. */
const endLeftovers = (): void => {
  if (!isAlone) return;
  const processes = readProcesses();
  for (const pid of processes.keys()) {
    if (pid === 1 || pid === process.pid || descendsFrom(processes, pid, process.pid)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
};

const failuresOf = (module: TestModule): string[] => [
  ...module.errors().map(({ message }) => `${module.relativeModuleId}: ${message}`),
  ...[...module.children.allSuites()].flatMap((suite) => suite.errors().map(({ message }) => message)),
  ...[...module.children.allTests('failed')].map((test) => test.fullName),
  // Of tests that run side by side none is said to have failed once one has: all of them stay without an outcome.
  ...[...module.children.allTests('pending')].map((test) => `${test.fullName} (or one beside it)`),
];

const runOne = async (test: string): Promise<string[]> => {
  const specification = specifications.get(`${process.cwd()}/${test}`);
  if (!specification) throw new Error(`${test} is no test file`);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification]);
  const module = testModules.find(({ moduleId }) => moduleId === specification.moduleId);
  return [...(module ? failuresOf(module) : []), ...unhandledErrors.map((error) => inspect(error))];
};

const run = async ({ tests, changed, limitMs }: Order): Promise<Answer> => {
  for (const file of changed) vitest.invalidateFile(file);
  const before = testTimes();
  let processorMs = 0;
  const measure = () => {
    let sum = 0;
    for (const [pid, ms] of testTimes()) sum += ms - (before.get(pid) ?? 0);
    processorMs = Math.max(processorMs, sum);
  };
  const watch = setInterval(() => {
    measure();
    if (processorMs <= limitMs) return;
    process.send?.({ outcome: 'too long', processorMs, failures: [] } satisfies Answer, () => process.exit(0));
  }, 50);
  try {
    for (const test of tests) {
      const failures = await runOne(test);
      if (failures.length > 0) return { outcome: 'noticed', processorMs, failures };
    }
    return { outcome: 'passed', processorMs, failures: [] };
  } finally {
    clearInterval(watch);
    endLeftovers();
  }
};

process.on('message', (order: Order) => {
  run(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
