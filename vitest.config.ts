import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { WaitingFirst } from './test/support/waiting-first.ts';

const neverTests = ['**/node_modules/**', '**/dist/**'];

/** What a test waits for comes in milliseconds, but not on a machine that is busy with something else. */
const patient = { poll: { timeout: 20_000, interval: 20 } };

/**
 * Files run side by side: each has ports, directories and processes of its own. One more than processors, since some test
 * always waits, for a process that starts or a limit that is reached.
 */
const maxWorkers = availableParallelism() + 1;

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
          expect: patient,
          include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/src/**/*.test.ts'],
          exclude: [...neverTests, 'apps/web/**', 'apps/server/**', 'packages/store/**'],
          maxWorkers,
          testTimeout: 30_000,
          // Of those that start a HAProxy.
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'server',
          expect: patient,
          globalSetup: ['test/support/postgres.ts'],
          include: ['apps/server/src/**/*.test.ts', 'packages/store/src/**/*.test.ts'],
          exclude: neverTests,
          maxWorkers,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'black-box',
          expect: patient,
          globalSetup: ['test/support/postgres.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [...neverTests, 'test/chaos/**'],
          maxWorkers,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'chaos',
          expect: patient,
          include: ['test/chaos/**/*.test.ts'],
          exclude: neverTests,
          maxWorkers,
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
