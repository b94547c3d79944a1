import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { keepTemporaryFilesInMemory } from './test/support/in-memory.ts';
import { WaitingFirst } from './test/support/waiting-first.ts';

// Our programs start in half the time and by a third of the work when Node keeps what it compiled. Most tests start some of them; those
// that give them an environment of their own pass this on. bin/test has set it, and has everything compiled ahead.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');

keepTemporaryFilesInMemory();

const neverTests = ['**/node_modules/**', '**/dist/**'];

/**
 * What a test waits for comes in milliseconds, but not on a machine that is busy with something else. A test may wait for several
 * such things. Limits are long because they cost nothing where all is well, and give room to tell apart what hangs and what is slow.
 */
const patient = {
  expect: { poll: { timeout: 45_000, interval: 50 } },
  testTimeout: 180_000,
  hookTimeout: 180_000,
};

/**
 * Files run side by side: each has ports, directories and processes of its own. Two more than processors, since some test
 * always waits, for a process that starts, a page that is drawn or a limit that is reached.
 */
const maxWorkers = availableParallelism() + 2;

/** Of the projects whose tests make up input. */
const setupFiles = ['test/support/fuzz-seed.ts'];

export default defineConfig({
  test: {
    // A retry would turn a race in the product into a green run.
    retry: 0,
    passWithNoTests: false,
    allowOnly: false,
    sequence: { sequencer: WaitingFirst },
    projects: [
      {
        test: {
          name: 'unit',
          ...patient,
          setupFiles,
          include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'apps/web/*.test.ts'],
          exclude: [...neverTests, 'apps/server/**', 'packages/store/**'],
          // What they import is loaded once for each worker, not for each file. What a test changes in its process (time,
          // environment, mocks) it puts back; hooks that tests share are set by a function, not by an import.
          isolate: false,
          maxWorkers,
        },
      },
      {
        test: {
          name: 'server',
          ...patient,
          globalSetup: ['test/support/postgres.ts', 'test/support/build-web.ts'],
          setupFiles,
          include: ['apps/server/src/**/*.test.ts', 'packages/store/src/**/*.test.ts'],
          exclude: neverTests,
          // As above.
          isolate: false,
          // Tests that mostly wait say that they run beside each other.
          maxConcurrency: 3,
          maxWorkers,
        },
      },
      {
        test: {
          name: 'black-box',
          ...patient,
          globalSetup: ['test/support/postgres.ts', 'test/support/build-web.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [...neverTests, 'test/chaos/**'],
          // As above. Tests of the web interface have a server in their process, whose thousand modules they would load for each file.
          isolate: false,
          maxWorkers,
        },
      },
      {
        test: {
          name: 'chaos',
          ...patient,
          include: ['test/chaos/**/*.test.ts'],
          exclude: neverTests,
          // As above.
          isolate: false,
          maxWorkers,
        },
      },
    ],
  },
});
