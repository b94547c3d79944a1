import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** One import of a module, however it is written: `import`, `export … from`, `import(…)`, also of types alone. */
export interface Import {
  /** Importing file, from the repository's root. */
  from: string;
  /** File of ours from the root, or the name of a module that is not ours. */
  to: string;
  /** As it is written: a path from the importing file, or a name. */
  specifier: string;
  /** Names of the values taken, `*` for all; types are not among them. */
  values: readonly string[];
}

/** Text of each file of ours by its path from the repository's root. */
export type Sources = ReadonlyMap<string, string>;

const STATEMENTS = /^(?:import|export)\s(?<what>[^'"`;]*?)\sfrom\s+['"](?<from>[^'"]+)['"]/gm;
const BARE = /^import\s+['"](?<from>[^'"]+)['"]/gm;
const CALLS = /\bimport\(\s*['"](?<from>[^'"]+)['"]\s*\)/g;

/** `*` stands for a whole module: `import x from`, `import * as x from`, `import('…')`. */
const valuesIn = (what: string): string[] => {
  if (what.startsWith('type ')) return [];
  const [, before = '', list] = /^([^{]*)(?:\{([^}]*)\})?/.exec(what) ?? [];
  const named = (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s/, 1)[0] ?? name);
  return before.trim() === '' && list !== undefined ? named : ['*', ...named];
};

/** Which file of `packages/NAME` or `apps/NAME` a specifier such as `@sallyport/NAME/places` means. */
const ofWorkspace = (specifier: string, sources: Sources): string => {
  const [, name = '', inner] = /^@sallyport\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  const folders = ['packages', 'apps'].map((kind) => `${kind}/${name}/src/`);
  const direct = folders.map((folder) => `${folder}${inner ?? 'index'}.ts`).find((path) => sources.has(path));
  // A door may have a shorter name than the path behind it.
  const behind = (path: string) => folders.some((folder) => path.startsWith(folder)) && path.endsWith(`/${inner}.ts`);
  return direct ?? [...sources.keys()].find(behind) ?? specifier;
};

/** Every import in the sources. */
export const readImports = (sources: Sources): Import[] =>
  [...sources].flatMap(([from, text]) =>
    [STATEMENTS, BARE, CALLS].flatMap((form) =>
      [...text.matchAll(form)].map(({ groups }): Import => {
        const specifier = groups?.from ?? '';
        const to = specifier.startsWith('.') ? join(dirname(from), specifier) : ofWorkspace(specifier, sources);
        return { from, to, specifier, values: valuesIn(groups?.what ?? '') };
      }),
    ),
  );

/** All TypeScript below these folders of the repository, whose paths it is found by. */
const readFolders = (repository: string, folders: readonly string[]): Map<string, string> =>
  new Map(
    folders
      .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: repository, exclude: ['**/node_modules/**'] }))
      .sort()
      .map((path) => [path, readFileSync(join(repository, path), 'utf8')]),
  );

/** The product's own TypeScript: what lies in `src` folders, without tests and what only tests use. */
export const readSources = (repository: string): Sources =>
  new Map(
    [...readFolders(repository, ['{apps,packages}/*/src'])].filter(
      ([path]) => !path.endsWith('.test.ts') && !path.includes('/testing/'),
    ),
  );

/** The same with all tests, what they share, and measurements. */
export const readEverything = (repository: string): Map<string, string> =>
  readFolders(repository, ['{apps,packages}/*/{src,test,bench}', 'test']);
