import { globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

/** Files of a folder, by their path in it, and the files of it that each imports, types as well. Tests are left out. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const statement = /(?:^|[\s;}])(?:from|import)\s*\(?\s*'(\.[^']*)'/g;

/** Reads the import statements of all files below `folder`. */
export const readImports = (folder: string): Imports => {
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !file.endsWith('.test.ts'));
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const found = [...readFileSync(join(folder, file), 'utf8').matchAll(statement)];
      const imported = found.map(([, path]) => normalize(join(file, '..', path!)));
      return [file, imported.filter((path) => known.has(path))] as const;
    }),
  );
};

/** The first circle of files, as the way round it; null when there is none. */
export const findCircle = (imports: Imports): string[] | null => {
  const finished = new Set<string>();
  const way: string[] = [];
  const visit = (file: string): string[] | null => {
    if (finished.has(file)) return null;
    const at = way.indexOf(file);
    if (at !== -1) return [...way.slice(at), file];
    way.push(file);
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next);
      if (circle !== null) return circle;
    }
    way.pop();
    finished.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const circle = visit(file);
    if (circle !== null) return circle;
  }
  return null;
};

/** Imports that do not lead down: of a file to one whose floor is not below its own. The ground floor stands first; a floor may have folders side by side. */
export const importsUpwards = (imports: Imports, floors: readonly string[]): string[] => {
  const rooms = floors.map((floor) => floor.split(' '));
  // The longest room that a file lies in: `engine/run` before `engine`, which is what lies in that folder itself.
  const roomOf = (file: string): { readonly room: string; readonly floor: number } => {
    const found = rooms.flatMap((names, floor) => names.map((room) => ({ room, floor })));
    const own = found.filter(({ room }) => file.startsWith(`${room}/`)).sort((a, b) => b.room.length - a.room.length);
    return own[0] ?? { room: file, floor: rooms.length };
  };
  return [...imports].flatMap(([file, imported]) => {
    const from = roomOf(file);
    const isUp = (path: string): boolean => {
      const to = roomOf(path);
      return to.room !== from.room && to.floor >= from.floor;
    };
    return imported.filter(isUp).map((path) => `${file} imports ${path}`);
  });
};
