import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Importing file, the import statement's end, whether biome.json must let it pass. */
type Case = readonly [file: string, imported: string, verdict: 'allowed' | 'refused'];

const cases: readonly Case[] = [
  ['packages/contract/src/a.ts', "'typebox'", 'allowed'],
  ['packages/contract/src/a.ts', "'node:fs'", 'refused'],
  ['packages/haproxy/src/a.ts', "'@sallyport/contract'", 'allowed'],
  ['packages/haproxy/src/a.ts', "'pino'", 'refused'],
  ['packages/haproxy/src/driver/a.ts', "'../../../../apps/server/src/app.ts'", 'refused'],
  ['packages/spop/src/a.ts', "'@sallyport/deployment/log'", 'refused'],
  ['packages/waf/src/a.ts', "'./engine/engine.ts'", 'allowed'],
  ['packages/waf/src/a.ts', "'@sallyport/contract'", 'refused'],
  ['packages/waf/src/a.ts', "'../../spop/src/agent.ts'", 'refused'],
  ['packages/access/src/a.ts', "'ipaddr.js'", 'allowed'],
  ['packages/access/src/a.ts', "'undici'", 'refused'],
];

/** Which of the files biome.json refuses for what they import, by one run over all of them. */
const refusedFiles = (files: ReadonlyMap<string, string>): Set<string> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-imports-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const config = JSON.parse(readFileSync(join(repository, 'biome.json'), 'utf8'));
  writeFileSync(join(dir, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const { stdout, stderr } = spawnSync(
    join(repository, 'node_modules/.bin/biome'),
    ['lint', '--only=style/noRestrictedImports', '--reporter=json', '--max-diagnostics=none', '.'],
    { cwd: dir, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 },
  );
  const report = JSON.parse(stdout || `"${stderr}"`);
  return new Set(
    report.diagnostics.map(({ location }: { location: { path: unknown } }) => JSON.stringify(location.path)),
  );
};

test('biome.json refuses the imports that the architecture forbids, and no others', () => {
  // Several cases are about one file: each stands beside it under a name of its own that the same rules cover.
  const files = new Map(
    cases.map(([file, imported], index) => [
      file.replace(/([^/]+)\.ts$/, (_, name: string) =>
        name === 'a' ? `a${index}.ts` : `of-case-${index}/${name}.ts`,
      ),
      `import ${imported};\n`,
    ]),
  );
  const refused = [...refusedFiles(files)].join('\n');
  const verdicts = [...files.keys()].map((path) => (refused.includes(path) ? 'refused' : 'allowed'));
  expect(cases.map(([file, imported], index) => [file, imported, verdicts[index]])).toEqual(cases);
});
