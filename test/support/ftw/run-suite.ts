import { compile, formatDiagnostic } from '@sallyport/waf';
import { expect } from 'vitest';
import { diskEnv, type Suite } from './rule-sets.ts';
import { runTest } from './run-test.ts';
import { readSuite } from './suite.ts';

/** Runs every test of a suite on one rule set; each failure must be a known exception, and each exception must still fail. */
export const runSuite = (suite: Suite, expectedCount: number, exceptions: Readonly<Record<string, string>>): void => {
  const { ruleSet, diagnostics } = compile(suite.sources, diskEnv);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic);
  expect(errors).toEqual([]);
  const tests = readSuite(suite.folder);
  expect(tests.length).toBe(expectedCount);
  const failures: Record<string, string> = {};
  for (const test of tests) {
    const problem = runTest(test, ruleSet!);
    if (problem !== null) failures[test.id] = problem;
  }
  const unexpected = Object.entries(failures).filter(([id]) => !Object.hasOwn(exceptions, id));
  expect(unexpected).toEqual([]);
  expect(Object.keys(failures).sort()).toEqual(Object.keys(exceptions).sort());
};
