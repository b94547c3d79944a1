import type { Directive } from '../parse/tree.ts';
import { CaddyfileError, show } from '../text/error.ts';

/** Directives that handle requests, in the order in which Caddy asks them. https://caddyserver.com/docs/caddyfile/directives */
const DEFAULT_ORDER: readonly string[] = [
  ...['tracing', 'map', 'vars', 'fs', 'root', 'log_append', 'skip_log', 'log_skip', 'log_name', 'header'],
  ...['copy_response_headers', 'request_body', 'timeouts', 'redir', 'method', 'rewrite', 'uri', 'try_files'],
  ...['basicauth', 'basic_auth', 'forward_auth', 'request_header', 'encode', 'push', 'intercept', 'templates'],
  ...['invoke', 'handle', 'handle_path', 'route', 'abort', 'error', 'copy_response', 'respond', 'metrics'],
  ...['reverse_proxy', 'php_fastcgi', 'file_server', 'acme_server'],
];

/** Directives that say something of the site as a whole, and handle no request. */
const OF_THE_SITE: readonly string[] = ['bind', 'tls', 'log', 'handle_errors', 'import'];

/** Whether Caddy itself has a directive of this name; others are of plugins, or misspelt. */
export const isKnownDirective = (name: string): boolean => DEFAULT_ORDER.includes(name) || OF_THE_SITE.includes(name);

/** Whether a directive handles requests, so that a matcher may be its first argument. */
export const handlesRequests = (name: string): boolean => !OF_THE_SITE.includes(name);

/** The same directive under two names is one as far as order goes. */
const orderedAs = (name: string): string => (name === 'handle_path' ? 'handle' : name);

/** At which place of the order each directive stands. */
export type Order = ReadonlyMap<string, number>;

const toOrder = (names: readonly string[]): Order => new Map(names.map((name, index) => [name, index]));

const DEFAULT = toOrder(DEFAULT_ORDER);

const MAX_USES = 1000;

/** The order as the global option `order` changes it, in the order of its uses. */
export const orderOf = (uses: readonly Directive[]): Order => {
  const [first] = uses;
  if (first === undefined) return DEFAULT;
  if (uses.length > MAX_USES)
    throw new CaddyfileError(`the option order is there more than ${MAX_USES} times`, first.name, 'order');
  let names = [...DEFAULT_ORDER];
  for (const { name, args } of uses) {
    const [what, where, other] = args.map(({ text }) => text);
    const refuse = (why: string) =>
      new CaddyfileError(`the option order ${why}`, name, args.map(({ text }) => text).join(' '));
    if (what === undefined || where === undefined) throw refuse('needs a directive and a place');
    names = names.filter((one) => one !== what);
    if (where === 'first') names.unshift(what);
    else if (where === 'last') names.push(what);
    else if (where === 'before' || where === 'after') {
      const at = names.indexOf(other ?? '');
      if (at === -1) throw refuse(`names ${show(other ?? '')}, which has no place`);
      names.splice(where === 'before' ? at : at + 1, 0, what);
    } else throw refuse(`has to say first, last, before or after, not ${show(where)}`);
  }
  return toOrder(names);
};

/** What the order of directives depends on. */
interface Sortable {
  name: string;
  matcher: { paths: readonly string[] | undefined; isAll: boolean };
}

const comparePaths = (a: string, b: string): number => {
  const [shortA, shortB] = [a, b].map((path) => (path.endsWith('*') ? path.slice(0, -1) : path)) as [string, string];
  // The same but for a wildcard: what is exact comes first.
  if (shortA === shortB) return a.length - b.length;
  if (shortA.length !== shortB.length) return shortB.length - shortA.length;
  return shortA < shortB ? -1 : 1;
};

/** Puts what stands side by side in a block into the order in which it is asked: that of directives, then longer paths first. */
export const inOrder = <T extends Sortable>(handlers: readonly T[], order: Order): T[] =>
  handlers.toSorted((a, b) => {
    const [nameA, nameB] = [orderedAs(a.name), orderedAs(b.name)];
    if (nameA !== nameB) return (order.get(nameA) ?? -1) - (order.get(nameB) ?? -1);
    const [pathsA, pathsB] = [a.matcher.paths, b.matcher.paths];
    const byPath =
      pathsA?.length === 1 && pathsB?.length === 1
        ? comparePaths(pathsA[0]!, pathsB[0]!)
        : Number(a.matcher.isAll) - Number(b.matcher.isAll);
    return nameA === 'vars' ? -byPath : byPath;
  });
