import { posix } from 'node:path';

/** A text and what it is called: a path with slashes, relative to wherever all of them are, or absolute. */
export interface CaddyfileSource {
  name: string;
  content: string;
}

/** How many names are compared with patterns, in all. */
const MAX_LOOKS = 5_000_000;

/** What an `import` of files means. */
export type Found = { files: CaddyfileSource[] } | { refused: string };

const isPattern = (path: string): boolean => /[*?[\]]/.test(path);
const count = (text: string, character: string): number => text.split(character).length - 1;

const toExpression = (pattern: string): RegExp => {
  const escaped = pattern.replaceAll(/[.+^${}()|\\[\]]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`, 's');
};

/** The files that there are, as `import` sees them. Nothing else exists, wherever a path leads. */
export class FileSet {
  readonly #files = new Map<string, CaddyfileSource>();
  #looks = 0;
  readonly #found = new Map<string, Found>();
  /** Names that two files have; the first one counts. */
  readonly doubles: string[] = [];

  constructor(sources: readonly CaddyfileSource[]) {
    for (const source of sources) {
      const path = posix.normalize(source.name);
      if (this.#files.has(path)) this.doubles.push(source.name);
      else this.#files.set(path, source);
    }
  }

  get(name: string): CaddyfileSource | undefined {
    return this.#files.get(posix.normalize(name));
  }

  /** The files that `path`, imported by a line of the file `from`, stands for, in the order of their names. */
  find(from: string, path: string): Found {
    const whole = posix.isAbsolute(path) ? posix.normalize(path) : posix.join(posix.dirname(from), path);
    const known = this.#found.get(whole);
    if (known) return known;
    this.#looks += this.#files.size;
    const found = this.#looks > MAX_LOOKS ? { refused: 'is one import too many' } : this.#look(whole);
    this.#found.set(whole, found);
    return found;
  }

  #look(path: string): Found {
    if (path === '..' || path.startsWith('../')) return { refused: 'leads outside of the files that were given' };
    if (!isPattern(path)) {
      const file = this.#files.get(path);
      if (file) return { files: [file] };
      const isDirectory = Array.from(this.#files.keys()).some((name) => name.startsWith(`${path.replace(/\/$/, '')}/`));
      return { refused: isDirectory ? 'is a directory, not a file' : 'is not among the files that were given' };
    }
    if (count(path, '*') > 1 || count(path, '?') > 1 || (path.includes('[') && path.includes(']'))) {
      return { refused: 'may only have one wildcard' };
    }
    const expression = toExpression(path);
    const skipsHidden = posix.basename(path).startsWith('*');
    const names = Array.from(this.#files.keys())
      .filter((name) => expression.test(name) && !(skipsHidden && posix.basename(name).startsWith('.')))
      .sort();
    return { files: names.map((name) => this.#files.get(name)!) };
  }
}
