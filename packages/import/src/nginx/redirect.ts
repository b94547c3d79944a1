import type { Redirection } from '../redirection.ts';
import type { Token } from './lex.ts';
import type { Directive } from './parse.ts';
import { named, resolved, type Scope } from './scope.ts';
import type { Server } from './server.ts';

/** Patterns of `rewrite` that every path fits. */
const ALL_PATHS = new Set([
  '^',
  '^/',
  '/',
  '.*',
  '(.*)',
  '^.*',
  '^(.*)',
  '^.*$',
  '^(.*)$',
  '^/(.*)',
  '^/(.*)$',
  '^/?(.*)$',
]);
const CODES = /^30[12378]$/;

const isAddress = (text: string): boolean => /^(?:https?:|\$scheme)/.test(text);

/** What a `rewrite` redirects to whatever fits its pattern, with the status that nginx gives it. */
const rewriteOf = ([, to = '', flag]: readonly string[]): Redirection | undefined => {
  if (flag === 'permanent') return { to, code: '301' };
  return flag === 'redirect' || isAddress(to) ? { to, code: '302' } : undefined;
};

const returnOf = ([first = '', second, ...more]: readonly string[]): Redirection | undefined => {
  if (more.length > 0) return undefined;
  if (second === undefined) return isAddress(first) ? { to: first, code: '302' } : undefined;
  return CODES.test(first) ? { to: second, code: first } : undefined;
};

/** Where a `return` or `rewrite` redirects to what fits its pattern, and from where on: a pattern, or undefined for all paths. */
export const redirectOfSome = (
  { name, args }: Directive,
  scope: Scope,
): (Redirection & { pattern: string | undefined }) | undefined => {
  const texts = args.map(({ text }) => text);
  const isRewrite = name.text === 'rewrite';
  const found = isRewrite ? rewriteOf(texts) : name.text === 'return' ? returnOf(texts) : undefined;
  if (!found) return undefined;
  const pattern = isRewrite && !ALL_PATHS.has(texts[0]!) ? texts[0] : undefined;
  return { to: resolved(found.to, scope), code: found.code, pattern };
};

/** Where a `return` or `rewrite` redirects all paths to. */
export const redirectOf = (directive: Directive, scope: Scope): Redirection | undefined => {
  const found = redirectOfSome(directive, scope);
  return found?.pattern === undefined ? found : undefined;
};

/** Whether a `rewrite` puts all requests below another path. */
export const movesAll = ({ args }: Directive): boolean =>
  ALL_PATHS.has(args[0]?.text ?? '') && !/^\/?\$1$/.test(args[1]?.text ?? '');

/** Whether an address is that of a name by https, the same path. */
const isSameBySecure = (address: string, name: string): boolean => {
  const found = /^https:\/\/(\$\{?\w+\}?|[^/?#$]+)(?=$|[/?#$:])/i.exec(address);
  const host = found?.[1]?.toLowerCase().replace(/:\d+$/, '').replaceAll(/[{}]/g, '');
  return host === name || host === '$host' || host === '$server_name' || host === '$http_host';
};

/** Conditions under which a redirect to https is one of all requests without TLS. */
const ASKS_FOR_PLAIN =
  /^\(\$(?:scheme(?:=|!=\*?|~\*?)(?:http|https|\^http\$|"http"|"")|https(?:!=on|=off|="?"?)|server_port(?:=80|!=443)|ssl_protocol=|test=H|http_x_forwarded_proto(?:=http|!=https))\)$/;

/** The condition of an `if`, without spaces. */
export const conditionOf = ({ args }: Directive): string => args.map(({ text }) => text).join('');

/** Whether an `if` sends what comes without TLS to the same name by https. */
export const isSecuringIf = (directive: Directive, scope: Scope, name: string): boolean => {
  const condition = conditionOf(directive);
  const isOfName = condition.toLowerCase() === `($host=${name})`;
  if (!isOfName && !ASKS_FOR_PLAIN.test(condition)) return false;
  return (directive.block ?? []).some((one) => isSameBySecure(redirectOf(one, scope)?.to ?? '', name));
};

/** Where a server redirects all requests for a name to, when it does nothing else, and where that is said. */
export const redirectOfAll = (
  { scope }: Server,
  main: Scope | undefined,
  name: string,
): (Redirection & { at: Token }) | undefined => {
  const own = named(scope.own, 'if').find((one) => conditionOf(one).toLowerCase() === `($host=${name})`);
  for (const list of [own?.block ?? [], scope.own, main?.own ?? []]) {
    for (const directive of [...named(list, 'return'), ...named(list, 'rewrite')]) {
      const found = redirectOf(directive, main ?? scope);
      if (found) return { ...found, at: directive.name };
    }
  }
  return undefined;
};

/** Whether a server does nothing for a name but send it to https. */
export const onlySecures = (server: Server, main: Scope | undefined, name: string): boolean =>
  isSameBySecure(redirectOfAll(server, main, name)?.to ?? '', name);
