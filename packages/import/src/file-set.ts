import type { SourceFile } from './reading.ts';

/** The parts of a path; `../letsencrypt/live` is as good as its end. */
const segmentsOf = (path: string): string[] =>
  path.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..');

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** One part of a path with `*`, `?` and `[…]`, as a shell has them. */
const toPattern = (part: string): RegExp | undefined => {
  // Stars side by side would be tried against each other.
  const source = part.replaceAll(/\*+/g, '*').replaceAll(/\[(!?)([^\]]+)\]|\*|\?|[^*?[]+|\[/g, (piece, not, set) => {
    if (piece === '*') return '[^/]*';
    if (piece === '?') return '[^/]';
    return set === undefined ? escaped(piece) : `[${not ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]`;
  });
  // A part with many stars would take forever on a long name.
  if (part.length > 255 || part.replaceAll(/[^*]/g, '').length > 5) return undefined;
  try {
    return new RegExp(`^${source}$`, 'u');
  } catch {
    return undefined;
  }
};

/** Finds the files that a configuration names among those uploaded; made once, for many names. */
export class FileSet {
  readonly #byLast = new Map<string, { file: SourceFile; segments: string[] }[]>();
  readonly #all: { file: SourceFile; segments: string[] }[] = [];
  readonly #known = new Map<string, SourceFile[]>();

  constructor(files: readonly SourceFile[]) {
    for (const file of files) {
      const segments = segmentsOf(file.name);
      const one = { file, segments };
      this.#all.push(one);
      const last = segments.at(-1) ?? '';
      const others = this.#byLast.get(last);
      if (others) others.push(one);
      else this.#byLast.set(last, [one]);
    }
  }

  /** What it costs to look for a path, in directives. */
  costOf(path: string): number {
    return this.#known.has(path) ? 1 : 1 + this.#all.length / 10;
  }

  /**
   * The files that a path, perhaps with a pattern, means: by as many of its last parts as a file's name has, since who
   * uploads files seldom gives them their whole path. Those that fit in most parts.
   */
  find(path: string): SourceFile[] {
    const known = this.#known.get(path);
    if (known) return known;
    const wanted = segmentsOf(path);
    const last = wanted.at(-1) ?? '';
    const candidates = /[*?[]/.test(last) ? this.#all : (this.#byLast.get(last) ?? []);
    const patterns = wanted.map(toPattern);
    let most = 1;
    let found: SourceFile[] = [];
    for (const { file, segments } of candidates) {
      const count = Math.min(segments.length, wanted.length);
      if (count < most) continue;
      let fits = true;
      for (let back = 1; fits && back <= count; back++) fits = patterns.at(-back)?.test(segments.at(-back)!) ?? false;
      if (!fits) continue;
      if (count > most) found = [];
      most = count;
      found.push(file);
    }
    found.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#known.set(path, found);
    return found;
  }

  /** The files right in a directory, which is found by the end of its path like a file; those without a directory are in any. */
  below(path: string): SourceFile[] {
    const wanted = segmentsOf(path);
    return this.#all
      .filter(({ segments }) => {
        const directory = segments.slice(0, -1);
        const count = Math.min(directory.length, wanted.length);
        return directory.slice(-count || directory.length).every((part, at) => part === wanted.slice(-count)[at]);
      })
      .map(({ file }) => file);
  }
}
