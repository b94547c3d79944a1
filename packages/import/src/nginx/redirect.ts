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

/** The address that a `return` or `rewrite` redirects to. */
export const redirectOf = ({ name, args }: Directive, scope: Scope): string | undefined => {
  const texts = args.map(({ text }) => text);
  let address: string | undefined;
  if (name.text === 'return') {
    if (texts.length === 2 && CODES.test(texts[0]!)) address = texts[1];
    else if (texts.length === 1 && /^(?:https?:|\$scheme)/.test(texts[0]!)) address = texts[0];
  } else if (name.text === 'rewrite') {
    const isRedirect = texts[2] === 'permanent' || texts[2] === 'redirect' || /^(?:https?:|\$scheme)/.test(texts[1]!);
    if (isRedirect && ALL_PATHS.has(texts[0]!)) address = texts[1];
  }
  return address === undefined ? undefined : resolved(address, scope);
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
  return (directive.block ?? []).some((one) => isSameBySecure(redirectOf(one, scope) ?? '', name));
};

/** Where a server redirects all requests for a name to, when it does nothing else. */
export const redirectOfAll = ({ scope }: Server, main: Scope | undefined, name: string): string | undefined => {
  const own = named(scope.own, 'if').find((one) => conditionOf(one).toLowerCase() === `($host=${name})`);
  for (const list of [own?.block ?? [], scope.own, main?.own ?? []]) {
    for (const directive of [...named(list, 'return'), ...named(list, 'rewrite')]) {
      const address = redirectOf(directive, main ?? scope);
      if (address !== undefined) return address;
    }
  }
  return undefined;
};

/** Whether a server does nothing for a name but send it to https. */
export const onlySecures = (server: Server, main: Scope | undefined, name: string): boolean =>
  isSameBySecure(redirectOfAll(server, main, name) ?? '', name);
