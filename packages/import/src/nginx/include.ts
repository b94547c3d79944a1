import { FileSet } from '../file-set.ts';
import type { SourceFile } from '../reading.ts';
import { NginxError } from './error.ts';
import { type Budget, type Directive, newBudget, parseNginx, spend } from './parse.ts';

const MAX_INCLUDES_DEEP = 20;

/** Files that come with nginx, certbot or a distribution, and decide nothing about who may come in. */
const HARMLESS =
  /(?:^|\/)(?:mime\.types|(?:fastcgi|uwsgi|scgi)_params|fastcgi\.conf|proxy_params|koi-\w+|win-utf|modules[^/]*\/[^/]*|options-ssl-nginx\.conf|ssl-(?:ciphers|cache)\.conf|resolvers?\.conf|letsencrypt-acme-challenge\.conf|ip_ranges\.conf|log\.conf)$/;

/** What the files of Nginx Proxy Manager that its hosts include mean; they are part of it, and seldom uploaded. */
const OF_PROXY_MANAGER: readonly [RegExp, string][] = [
  [
    /(?:^|\/)conf\.d\/include\/proxy\.conf$/,
    'proxy_set_header Host $host; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-For $remote_addr; proxy_pass $forward_scheme://$server:$port$request_uri;',
  ],
  [/(?:^|\/)conf\.d\/include\/force-ssl\.conf$/, 'if ($scheme = http) { return 301 https://$host$request_uri; }'],
  // Ours has the same for every host.
  [/(?:^|\/)conf\.d\/include\/block-exploits\.conf$/, ''],
  [/(?:^|\/)conf\.d\/include\/assets\.conf$/, 'location ~* \\.(?:css|js|png|svg)$ { proxy_cache public-cache; }'],
];

/** What who runs Nginx Proxy Manager may put beside it: every host includes it, and hardly anybody has it. */
const BESIDE_PROXY_MANAGER = /(?:^|\/)nginx\/custom\/(?:events|http|root|server|stream)(?:_\w+)?\[?\.\]?conf$/;

/** What was read of all files, includes put in their place. */
export interface Loaded {
  directives: Directive[];
  /** Includes that found nothing, and stay in the tree as they are. */
  missing: Directive[];
  /** Includes by a pattern that fits none of the files: of those on the other machine nobody here knows. */
  unmatched: Directive[];
  /** Files that no other includes, and that are no configuration by themselves. */
  unused: SourceFile[];
}

class Loader {
  readonly #set: FileSet;
  readonly #budget: Budget = newBudget();
  readonly #parsed = new Map<SourceFile, Directive[]>();
  readonly #open: SourceFile[] = [];
  readonly missing: Directive[] = [];
  readonly unmatched: Directive[] = [];
  readonly #isWhole: boolean;

  constructor(files: readonly SourceFile[], isWhole: boolean) {
    this.#set = new FileSet(files);
    this.#isWhole = isWhole;
  }

  isUsed(file: SourceFile): boolean {
    return this.#parsed.has(file);
  }

  parse(file: SourceFile): Directive[] {
    const known = this.#parsed.get(file);
    if (known) return known;
    const directives = parseNginx(file, this.#budget);
    this.#parsed.set(file, directives);
    return directives;
  }

  load(file: SourceFile): Directive[] {
    const directives = this.parse(file);
    this.#open.push(file);
    const expanded = this.#expand(directives);
    this.#open.pop();
    return expanded;
  }

  #expand(directives: readonly Directive[]): Directive[] {
    const expanded: Directive[] = [];
    for (const directive of directives) {
      const { name, args, block } = directive;
      if (name.text === 'include' && !block && args.length === 1) {
        for (const one of this.#include(directive, args[0]!.text)) expanded.push(one);
      } else {
        spend(this.#budget, directive);
        expanded.push(block ? { name, args, block: this.#expand(block) } : directive);
      }
    }
    return expanded;
  }

  #include(directive: Directive, path: string): Directive[] {
    const isPattern = /[*?[]/.test(path);
    spend(this.#budget, directive, this.#set.costOf(path));
    const found = this.#set.find(path).filter((file) => !isPattern || !this.#open.includes(file));
    if (found.some((file) => this.#open.includes(file))) {
      throw new NginxError('this file includes itself', directive.name, path);
    }
    if (this.#open.length >= MAX_INCLUDES_DEEP) {
      throw new NginxError(`there are more than ${MAX_INCLUDES_DEEP} files in each other`, directive.name, path);
    }
    spend(this.#budget, directive, found.length);
    if (found.length > 0) return found.flatMap((file) => this.load(file));
    const meant = OF_PROXY_MANAGER.find(([pattern]) => pattern.test(path));
    if (meant) {
      // At the place of the include: there is no file to name.
      const { file, line, column } = directive.name;
      const place = (one: Directive): Directive => ({
        name: { ...one.name, file, line, column },
        args: one.args.map((arg) => ({ ...arg, file, line, column })),
        block: one.block?.map(place),
      });
      return parseNginx({ name: file, content: meant[1] }, this.#budget).map(place);
    }
    if (HARMLESS.test(path) || (isPattern && this.#isWhole)) return [];
    (isPattern ? this.unmatched : this.missing).push(directive);
    if (BESIDE_PROXY_MANAGER.test(path)) return [];
    return [directive];
  }
}

const BY_ITSELF = new Set(['http', 'server', 'upstream', 'map']);

/**
 * Reads the first file and what it includes, and of the others those that stand by themselves; `isWhole` when there are no others on
 * the machine that they come from. Throws a `NginxError`.
 */
export const loadNginx = (files: readonly SourceFile[], isWhole: boolean): Loaded => {
  const loader = new Loader(files, isWhole);
  const directives: Directive[] = [];
  const unused: SourceFile[] = [];
  for (const [index, file] of files.entries()) {
    if (loader.isUsed(file)) continue;
    // A file that a later one includes has its place there.
    if (index === 0 || loader.parse(file).some(({ name, block }) => block && BY_ITSELF.has(name.text))) {
      for (const one of loader.load(file)) directives.push(one);
    } else unused.push(file);
  }
  return { directives, missing: loader.missing, unmatched: loader.unmatched, unused };
};
