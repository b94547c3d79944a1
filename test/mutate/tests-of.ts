import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { distancesFrom } from './import-graph.ts';

const workspaceOf = (file: string): string => file.split('/').slice(0, 2).join('/');

/** Steps of imports beyond which a test is about something else. */
const nearby = 3;

/**
 * Tests that ought to notice a fault in a file: those in its folder and below, those of its workspace that import it within
 * few steps, and those whose path begins with one of `more`. Nearest first.
 */
export const testsOf = (root: string, file: string, more: readonly string[]): readonly string[] => {
  const tests = globSync(['packages/*/{src,test}/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'test/**/*.test.ts'], {
    cwd: root,
    exclude: (name) => name.includes('node_modules'),
  });
  return tests
    .flatMap((test) => {
      const isNamed = more.some((path) => test.startsWith(path));
      if (!isNamed && workspaceOf(test) !== workspaceOf(file)) return [];
      const distance = distancesFrom(root, test).get(file) ?? Number.POSITIVE_INFINITY;
      const isBeside = test.startsWith(`${dirname(file)}/`) && distance < Number.POSITIVE_INFINITY;
      return isNamed || isBeside || distance <= nearby ? [{ test, distance }] : [];
    })
    .sort((one, other) => one.distance - other.distance)
    .map(({ test }) => test);
};
