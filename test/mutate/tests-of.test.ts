import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testsOf } from './tests-of.ts';

const givenRepository = (files: Readonly<Record<string, string>>): string => {
  const root = mkdtempSync(join(tmpdir(), 'sallyport-mutate-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
};

const root = () =>
  givenRepository({
    'packages/a/package.json': '{ "exports": { "./*": "./src/*.ts" } }',
    'packages/a/src/deep/lock.ts': '',
    'packages/a/src/deep/lock.test.ts': "import './lock.ts';",
    'packages/a/src/deep/beside.test.ts': "import '../one.ts';",
    'packages/a/src/deep/other.test.ts': '',
    'packages/a/src/three.ts': "import '@sallyport/a/deep/lock';",
    'packages/a/src/two.ts': "import './three.ts';",
    'packages/a/src/one.ts': "import './two.ts';",
    'packages/a/src/two.test.ts': "import './two.ts';",
    'packages/a/test/far.test.ts': "import '../src/one.ts';",
    'packages/b/src/user.test.ts': "import '@sallyport/a/three';",
    'test/product/whole.test.ts': '',
  });

test('tests of a file are those that import it within three steps, those in its folder, and those asked for', () => {
  // Nearest first: what fails soonest is tried first. `far` is four steps away, and so is `beside`.
  const own = ['packages/a/src/deep/lock.test.ts', 'packages/a/src/two.test.ts', 'packages/a/src/deep/beside.test.ts'];
  expect(testsOf(root(), 'packages/a/src/deep/lock.ts', [])).toEqual(own);
  expect(testsOf(root(), 'packages/a/src/deep/lock.ts', ['test/product', 'packages/b'])).toEqual([
    own[0],
    'packages/b/src/user.test.ts',
    ...own.slice(1),
    'test/product/whole.test.ts',
  ]);
});
