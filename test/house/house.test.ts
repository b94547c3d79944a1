import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  borrowedSupport,
  circlesOfFiles,
  circlesOfFolders,
  closedDoors,
  FLOORS,
  FOLDERS,
  httpInside,
  sideEntrances,
  strayConnections,
  strayFastify,
  strayKysely,
  upstairs,
  upwards,
  wrongFloors,
} from './checks.ts';
import { readEverything, readImports, readSources, type Sources } from './read-imports.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const house = readSources(repository);
const everything = readEverything(repository);
// The faults planted below are text of its own.
everything.delete('test/house/house.test.ts');

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
    'a type alone closes a circle, too',
    circlesOfFiles,
    {
      'apps/cli/src/a.ts': "import type { B } from './b.ts';",
      'apps/cli/src/b.ts': "export type B = { a: import('./a.ts').A };",
    },
  ],
  [
    'in a package with floors imports lead down',
    upwards,
    {
      'packages/waf/src/bytes/a.ts': "export { b } from '../engine/run/b.ts';",
      'packages/waf/src/engine/run/b.ts': '',
      'packages/waf/src/engine/c.ts': "import { b } from './run/b.ts';",
      'packages/waf/src/d.ts': "export { b } from './engine/c.ts';",
    },
  ],
  [
    'folders of one floor don\u2019t import one another',
    upwards,
    {
      'packages/waf/src/regex/a.ts': "import {\n  b,\n} from '../seclang/b.ts';",
      'packages/waf/src/seclang/b.ts': '',
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

/** The same for rules that tests and measurements keep as well. */
const rulesForAll: typeof rules = [
  [
    'a test reaches into the tests of no other workspace',
    borrowedSupport,
    {
      'packages/haproxy/test/a.test.ts': "import { b } from '../../waf/test/support/b.ts';",
      'packages/haproxy/test/c.test.ts': "import { d } from '../../../test/support/d.ts';",
    },
  ],
  [
    'nor into another folder of test/',
    borrowedSupport,
    { 'test/product/a.test.ts': "import { b } from '../guard/support/b.ts';" },
  ],
  [
    'what tests share knows none of them',
    borrowedSupport,
    { 'test/support/a.ts': "import type { B } from '../../apps/guard/src/b.ts';" },
  ],
];

const all = [
  ...rules.map((rule) => [...rule, house] as const),
  ...rulesForAll.map((rule) => [...rule, everything] as const),
];

describe('the house', () => {
  test.each(all)('%s', (_rule, check, _fault, sources) => {
    expect(check(sources)).toEqual([]);
  });

  test.each(all)('finds a fault planted: %s', (_rule, check, fault, sources) => {
    const [guilty] = Object.keys(fault);
    const found = check(new Map([...sources, ...Object.entries(fault)]));
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
    for (const workspace of Object.keys(FOLDERS)) {
      expect(imports.filter(({ from }) => from.startsWith(`${workspace}/`)).length).toBeGreaterThan(30);
    }
    expect([...everything.keys()].filter((path) => path.startsWith('test/support/'))).not.toEqual([]);
  });
});
