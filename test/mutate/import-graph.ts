import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const IMPORTED = /(['"])((?:\.{1,2}\/|@sallyport\/)[^'"\n]+)\1/g;

/** Files that belong to the repository and are named in a file's text: imported, started as a thread or as a process. */
const namedIn = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORTED)].flatMap(([, , specifier = '']) => {
    const target = specifier.startsWith('.')
      ? normalize(join(dirname(file), specifier))
      : exportedFile(root, specifier);
    return target?.endsWith('.ts') && existsSync(join(root, target)) ? [target] : [];
  });

/** Where `@sallyport/name/path` leads, by the exports of that workspace. */
const exportedFile = (root: string, specifier: string): string | undefined => {
  const [, name = '', ...path] = specifier.split('/');
  const workspace = [`packages/${name}`, `apps/${name}`].find((folder) =>
    existsSync(join(root, folder, 'package.json')),
  );
  if (workspace === undefined) return undefined;
  const { exports = {} } = JSON.parse(readFileSync(join(root, workspace, 'package.json'), 'utf8')) as {
    exports?: Record<string, string>;
  };
  const wanted = path.length === 0 ? '.' : `./${path.join('/')}`;
  const target = exports[wanted] ?? exports['./*']?.replace('*', path.join('/'));
  return target === undefined ? undefined : normalize(join(workspace, target));
};

const known = new Map<string, readonly string[]>();

/** The same, read once: mutants change no imports. */
const importsOf = (root: string, file: string): readonly string[] => {
  const key = `${root}/${file}`;
  const imports = known.get(key) ?? namedIn(root, file);
  known.set(key, imports);
  return imports;
};

/** How many imports lead from one file to each other one; those it does not reach are missing. */
export const distancesFrom = (root: string, file: string): ReadonlyMap<string, number> => {
  const distances = new Map([[file, 0]]);
  for (const [current, distance] of distances) {
    for (const next of importsOf(root, current)) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
};
