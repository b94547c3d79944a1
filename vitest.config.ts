import { defineConfig } from 'vitest/config';

const neverTests = ['**/node_modules/**', '**/dist/**'];

/** What a test waits for comes in milliseconds, but not on a machine that is busy with something else. */
const patient = { poll: { timeout: 20_000, interval: 20 } };

/** Tests beside the code run in parallel; black-box tests after them, one file at a time: they share machine and ports. */
export default defineConfig({
  test: {
    // A retry would turn a race in the product into a green run.
    retry: 0,
    passWithNoTests: false,
    allowOnly: false,
    projects: [
      {
        test: {
          name: 'unit',
          expect: patient,
          include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/src/**/*.test.ts'],
          exclude: [...neverTests, 'apps/web/**', 'apps/server/**', 'packages/store/**'],
          sequence: { groupOrder: 0 },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'server',
          expect: patient,
          globalSetup: ['test/support/postgres.ts'],
          include: ['apps/server/src/**/*.test.ts', 'packages/store/src/**/*.test.ts'],
          exclude: neverTests,
          sequence: { groupOrder: 0 },
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
          sequence: { groupOrder: 1 },
          fileParallelism: false,
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
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
