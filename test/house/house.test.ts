import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  circlesOfFiles,
  circlesOfFolders,
  closedDoors,
  FLOORS,
  httpInside,
  sideEntrances,
  strayConnections,
  strayFastify,
  strayKysely,
  upstairs,
  wrongFloors,
} from './checks.ts';
import { readImports, readSources, type Sources } from './read-imports.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const house = readSources(repository);

const server = 'apps/server/src';
const features = `${server}/features`;

/** What each check is for, the check, and files in which it has to find something; the first of them is the guilty one. */
const rules: readonly [rule: string, check: (sources: Sources) => string[], fault: Record<string, string>][] = [
  [
    'no app imports another app',
    wrongFloors,
    { 'apps/guard/src/a.ts': "import { b } from '@sallyport/server/b';", 'apps/server/src/b.ts': '' },
  ],
  [
    'no package imports an app',
    wrongFloors,
    { 'packages/store/src/a.ts': "import('../../../apps/server/src/b.ts');", 'apps/server/src/b.ts': '' },
  ],
  [
    'a workspace stands on its own floors only',
    wrongFloors,
    { 'apps/guard/src/a.ts': "import type { Vault } from '@sallyport/store/secrets/vault';" },
  ],
  [
    'a workspace that nobody has given floors stands on none',
    wrongFloors,
    { 'apps/new/src/a.ts': "import '@sallyport/contract';" },
  ],
  [
    'a workspace is entered by its name',
    sideEntrances,
    { 'apps/guard/src/a.ts': "import { b } from '../../../packages/waf/src/b.ts';", 'packages/waf/src/b.ts': '' },
  ],
  [
    'the top folders of a workspace form no circle',
    circlesOfFolders,
    {
      'packages/waf/src/one/a.ts': "import type { B } from '../two/b.ts';",
      'packages/waf/src/two/b.ts': '',
      'packages/waf/src/two/c.ts': "export * from '../three/d.ts';",
      'packages/waf/src/three/d.ts': "import {\n  e,\n} from '../one/e.ts';",
      'packages/waf/src/one/e.ts': '',
    },
  ],
  [
    'files form no circle',
    circlesOfFiles,
    {
      'apps/cli/src/a.ts': "import { b } from './b.ts';",
      'apps/cli/src/b.ts': "export { c } from './c.ts';",
      'apps/cli/src/c.ts': "import type { A } from './a.ts';",
    },
  ],
  [
    'a room of the server enters only those below it',
    upstairs,
    {
      [`${server}/http/a.ts`]: "import { b } from '../features/traffic/index.ts';",
      [`${features}/traffic/index.ts`]: '',
    },
  ],
  [
    'the server\u2019s root is entered from nowhere',
    upstairs,
    { [`${features}/traffic/a.ts`]: "import { b } from '../../server.ts';", [`${server}/server.ts`]: '' },
  ],
  [
    'a neighbourhood is entered by its door',
    closedDoors,
    {
      [`${features}/traffic/a.ts`]: "import { b } from '../accounts/users/service.ts';",
      [`${features}/accounts/users/service.ts`]: '',
    },
  ],
  [
    'only routes know HTTP',
    httpInside,
    { [`${features}/traffic/service.ts`]: "import { b } from '../../http/b.ts';", [`${server}/http/b.ts`]: '' },
  ],
  ['only stores know kysely', strayKysely, { [`${features}/traffic/service.ts`]: "import { sql } from 'kysely';" }],
  [
    'only routes, app.ts and http/ know fastify',
    strayFastify,
    { [`${features}/traffic/service.ts`]: "import type { FastifyInstance } from 'fastify';" },
  ],
  ['only net/ has clients', strayConnections, { [`${features}/traffic/service.ts`]: "import undici from 'undici';" }],
  [
    'only net/ dials',
    strayConnections,
    { [`${features}/traffic/a.ts`]: "import { createServer, connect } from 'node:net';" },
  ],
  [
    'only net/ loads clients',
    strayConnections,
    { [`${server}/http/a.ts`]: "const { request } = await import('node:https');" },
  ],
];

describe('the house', () => {
  test.each(rules)('%s', (_rule, check) => {
    expect(check(house)).toEqual([]);
  });

  test.each(rules)('finds a fault planted: %s', (_rule, check, fault) => {
    const [guilty] = Object.keys(fault);
    const found = check(new Map([...house, ...Object.entries(fault)]));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(guilty?.split('/', 4).join('/'));
  });

  test('has every workspace on a floor, and reads what it imports', () => {
    const workspaces = new Set([...house.keys()].map((path) => path.split('/', 2).join('/')));
    expect(Object.keys(FLOORS)).toEqual(expect.arrayContaining([...workspaces]));
    const imports = readImports(house);
    const told = imports.filter(({ from }) => from === `${server}/main.ts`).map(({ to }) => to);
    expect(told).toEqual(expect.arrayContaining([`${server}/server.ts`, 'packages/deployment/src/config.ts']));
    // Every specifier of ours leads to a file that is there.
    const nowhere = imports.filter(({ to }) => /^(?:apps|packages|@sallyport)\//.test(to) && !house.has(to));
    expect(nowhere).toEqual([]);
  });
});
