// compile.mjs: has Node keep every source file of ours without its types and compiled, and runs none of them. A process
// that finds nothing to strip is 12 MB smaller for each of its threads: the stripper is a compiler of its own, which stays
// in memory once it was needed.
import { spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, stamp] = process.argv.slice(2);
// V8 keeps apart what was compiled with other flags: the threads of guards have this one (apps/guard/src/main.ts).
const GUARD_FLAG = '--no-allocation-site-pretenuring';
const sources = globSync(['apps/*/src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).filter(
  (path) => !/\.test\.ts$|\/testing\/|^apps\/web\//.test(path),
);
const END = 'all is compiled';
// All modules are read and compiled before the first one runs; that ends the rest.
const imports = [
  `data:text/javascript,throw new Error("${END}")`,
  ...sources.map((path) => pathToFileURL(join(root, path)).href),
];
const program = imports.map((url) => `import ${JSON.stringify(url)};`).join('');
try {
  await import(`data:text/javascript,${encodeURIComponent(program)}`);
} catch (error) {
  if (error.message !== END) throw error;
}
if (getCompileCacheDir() !== undefined) {
  flushCompileCache();
  if (process.execArgv.includes(GUARD_FLAG)) writeFileSync(stamp, '');
  else spawnSync(process.execPath, [GUARD_FLAG, ...process.argv.slice(1)]);
}
