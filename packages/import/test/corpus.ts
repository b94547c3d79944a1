import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One Caddyfile, or several that belong together, out of `corpus/`. */
export interface Case {
  name: string;
  content: string;
  /** What it imports. */
  files: { name: string; content: string }[];
  /** The same for a Caddy that does not know its syntax yet. */
  forOldCaddy: string | undefined;
}

const corpus = new URL('corpus/', import.meta.url);

/**
 * Reads the corpus. `### name` begins a Caddyfile, `### file path` one that it imports, and `### before 2.7` the same in the
 * syntax of Debian's Caddy.
 */
export const readCorpus = (): Case[] =>
  readdirSync(fileURLToPath(corpus)).flatMap((file) => {
    const cases: Case[] = [];
    for (const part of readFileSync(new URL(file, corpus), 'utf8').split(/^### /m).slice(1)) {
      const [heading = ''] = part.split('\n', 1);
      const content = part.slice(heading.length + 1);
      const current = cases.at(-1);
      if (heading.startsWith('file ')) current!.files.push({ name: heading.slice(5), content });
      else if (heading === 'before 2.7') current!.forOldCaddy = content;
      else cases.push({ name: heading, content, files: [], forOldCaddy: undefined });
    }
    return cases;
  });
