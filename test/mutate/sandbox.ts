import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A copy of the repository whose files may be changed while nobody else sees it. */
export interface Sandbox {
  readonly root: string;
  /** Directory for what its tests make. */
  readonly temporary: string;
  write(file: string, text: string): void;
  /** Absolute paths of the files that were written since the last call. */
  takeChanged(): readonly string[];
  remove(): void;
}

/** Our own packages must lead into the copy, all others may lead out of it. */
const linkModules = (from: string, to: string): void => {
  for (const entry of readdirSync(from)) {
    if (entry === '.cache') continue;
    if (entry === '@sallyport') cpSync(join(from, entry), join(to, entry), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, entry), join(to, entry));
  }
};

/** Copies what git knows and what is new; installed modules are linked. */
export const makeSandbox = (repository: string): Sandbox => {
  // A short name: paths of Unix sockets have 107 bytes.
  const top = mkdtempSync(join(tmpdir(), 'mu-'));
  const [root, temporary] = [join(top, 'r'), join(top, 't')];
  for (const directory of [top, root, temporary]) {
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, directory === temporary ? 0o1777 : 0o755);
  }
  const changed = new Set<string>();
  const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of listing.split('\0').filter((name) => name !== '' && existsSync(join(repository, name)))) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    cpSync(join(repository, file), join(root, file), { verbatimSymlinks: true });
  }
  mkdirSync(join(root, 'node_modules'));
  linkModules(join(repository, 'node_modules'), join(root, 'node_modules'));
  return {
    root,
    temporary,
    write(file, text) {
      writeFileSync(join(root, file), text);
      changed.add(join(root, file));
    },
    takeChanged() {
      const files = [...changed];
      changed.clear();
      return files;
    },
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
};
