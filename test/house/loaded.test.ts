import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Names of the packages and of Node's own parts that are in memory once this module is imported. */
const loadedBy = (main: string): string[] => {
  const program = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    await import(${JSON.stringify(`${repository}${main}`)});
    process.stdout.write(JSON.stringify([...urls, ...process.moduleLoadList]));
    process.exit();
  `;
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  expect(child.stderr).toBe('');
  const urls = JSON.parse(child.stdout) as string[];
  const names = urls.map(
    (url) =>
      /node_modules\/((?:@[^/]+\/)?[^/]+)|(packages\/[^/]+\/src(?:\/[^/]+(?=\/))?)|(internal\/deps\/[^/]+)/.exec(
        url,
      )?.[0],
  );
  return [...new Set(names.filter((name) => name !== undefined))].map((name) => name.replace('node_modules/', ''));
};

// What they cost: docs/decisions/0009-memory-at-rest.md.
const nobodyNeeds = ['typebox', 'internal/deps/undici', 'undici', 'maxmind', 'mmdb-lib'];

test.for([
  ['an idle supervisor', 'apps/supervisor/src/process-table.ts', ['kysely', 'fastify', 'ajv']],
  ['an idle guard', 'apps/guard/src/worker.ts', ['packages/waf/src/compile', 'pino', 'ajv', 'kysely']],
  [
    'an idle server',
    'apps/server/src/server.ts',
    ['packages/waf/src/compile', 'pg', 'nodemailer', 'jose', '@peculiar/x509', '@node-rs/argon2', 'aws4fetch'],
  ],
  ['a command that asks the service', 'apps/cli/src/commands/certificate.ts', ['kysely', 'better-sqlite3']],
] as const)('what %s never calls is not in its memory', ([, main, unneeded]) => {
  const loaded = loadedBy(main);
  // It tells at all.
  expect(loaded).not.toEqual([]);
  expect(loaded.filter((name) => [...nobodyNeeds, ...unneeded].includes(name))).toEqual([]);
});
