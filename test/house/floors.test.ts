import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findCircle, importsUpwards, readImports } from './imports.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** From the ground up: a folder imports only folders of floors before its own. */
const floorsOf: Readonly<Record<string, readonly string[]>> = {
  'packages/waf/src': [
    'bytes',
    'regex seclang transformations',
    'operators/sql operators/html',
    'operators body',
    'model',
    'variables',
    'compile',
    'actions',
    'engine/read',
    'engine/run',
    'engine/scan',
    'engine',
    'presets tools',
  ],
  'packages/haproxy/src': ['model', 'routes', 'config', 'reconcile runtime', 'files', 'driver'],
};

test.each(Object.entries(floorsOf))(
  '%s: imports lead down, and no files import one another in a circle',
  (folder, floors) => {
    const imports = readImports(join(repository, folder));
    expect(imports.size).toBeGreaterThan(30);
    expect(findCircle(imports)).toBeNull();
    expect(importsUpwards(imports, floors)).toEqual([]);
  },
);

const planted = (files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-floors-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
};

test('a circle of types alone is found', () => {
  const folder = planted({
    'model/a.ts': "import type { B } from './b.ts';\nexport type A = B | null;\n",
    'model/b.ts': "export type B = { a: import('./a.ts').A };\n",
    'model/c.ts': "import './a.ts';\n",
  });
  expect(findCircle(readImports(folder))).toEqual(['model/a.ts', 'model/b.ts', 'model/a.ts']);
});

test('an import of a higher floor is found, and one of a folder beside', () => {
  const folder = planted({
    'bytes/a.ts': "export { b } from '../engine/run/b.ts';\n",
    'engine/run/b.ts': 'export const b = 1;\n',
    'engine/c.ts': "import { b } from './run/b.ts';\nexport { b };\n",
    'regex/d.ts': "import {\n  e,\n} from '../seclang/e.ts';\nexport { e };\n",
    'seclang/e.ts': 'export const e = 1;\n',
    'index.ts': "export { b } from './engine/c.ts';\n",
  });
  expect(importsUpwards(readImports(folder), ['bytes', 'regex seclang', 'engine/run', 'engine']).sort()).toEqual([
    'bytes/a.ts imports engine/run/b.ts',
    'regex/d.ts imports seclang/e.ts',
  ]);
});
