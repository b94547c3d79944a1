import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Importing file, the import statement's end, whether biome.json must let it pass. */
type Case = readonly [file: string, imported: string, verdict: 'allowed' | 'refused'];

const feature = 'apps/server/src/features/proxy-hosts';

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

  [`${feature}/service.ts`, "'../../net/safe-fetch.ts'", 'allowed'],
  [`${feature}/service.ts`, "'fastify'", 'refused'],
  [`${feature}/service.ts`, "'kysely'", 'refused'],
  [`${feature}/service.ts`, "'node:tls'", 'refused'],
  [`${feature}/service.ts`, "'../../http/policy.ts'", 'refused'],
  [`${feature}/service.ts`, "'../../app.ts'", 'refused'],
  [`${feature}/service.ts`, "'./store.ts'", 'allowed'],
  [`${feature}/service.ts`, "'../certificates/store.ts'", 'refused'],
  [`${feature}/routes.ts`, "'fastify'", 'allowed'],
  [`${feature}/routes.ts`, "'kysely'", 'refused'],
  [`${feature}/routes.ts`, "'../certificates/store.ts'", 'refused'],
  [`${feature}/store.ts`, "'kysely'", 'allowed'],
  [`${feature}/store.ts`, "'fastify'", 'refused'],
  [`${feature}/store.ts`, "'../certificates/store.ts'", 'refused'],

  ['apps/server/src/http/a.ts', "'fastify'", 'allowed'],
  ['apps/server/src/http/a.ts', "'../features/auth/service.ts'", 'refused'],
  ['apps/server/src/db/a.ts', "'kysely'", 'allowed'],
  ['apps/server/src/db/a.ts', "'../features/auth/service.ts'", 'refused'],
  ['apps/server/src/db/a.ts', "'../dataplane/plane.ts'", 'refused'],
  ['apps/server/src/dataplane/a.ts', "'@sallyport/haproxy'", 'allowed'],
  ['apps/server/src/dataplane/a.ts', "'kysely'", 'refused'],
  ['apps/server/src/dataplane/a.ts', "'../features/auth/service.ts'", 'refused'],
  ['apps/server/src/net/a.ts', "'undici'", 'allowed'],
  ['apps/server/src/net/a.ts', "'../db/open.ts'", 'refused'],
  ['apps/server/src/net/a.ts', "'../dataplane/plane.ts'", 'refused'],
  ['apps/server/src/secrets/a.ts', "'../features/auth/service.ts'", 'refused'],

  ['apps/guard/src/a.ts', "'@sallyport/deployment/places'", 'allowed'],
  ['apps/guard/src/a.ts', "'@sallyport/store/database/open'", 'refused'],
  ['apps/guard/src/a.ts', "'../../server/src/server.ts'", 'refused'],
  ['apps/supervisor/src/a.ts', "'@sallyport/deployment/config'", 'allowed'],
  ['apps/supervisor/src/a.ts', "'@sallyport/server/server'", 'refused'],
  ['apps/web/src/a.ts', "'@sallyport/contract'", 'allowed'],
  ['apps/web/src/a.ts', "'@sallyport/deployment/config'", 'refused'],
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
