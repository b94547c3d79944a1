import type { Directive, ServerBlock } from '../parse/tree.ts';
import { CaddyfileError, type Place, show } from '../text/error.ts';
import type { Token } from '../text/token.ts';
import { type Address, parseAddress } from './address.ts';
import { EVERY_REQUEST, type Matcher, type Matchers, matcherOf, readMatchers } from './matcher.ts';
import type { GlobalOptions } from './options.ts';
import { handlesRequests, inOrder, isKnownDirective, type Order } from './order.ts';
import { isReverseProxy, type ReverseProxy, readReverseProxy } from './reverse-proxy.ts';

/** A directive that handles requests. */
export interface Handler {
  name: string;
  directive: Directive;
  matcher: Matcher;
  /** Without the matcher. */
  args: readonly Token[];
  /** What a `handle`, `handle_path` or `route` holds, in the order in which it is asked. */
  inner: Handler[] | undefined;
  /** What a `reverse_proxy` says, or what is short for one: `php_fastcgi`, `forward_auth`. */
  proxy: ReverseProxy | undefined;
}

export interface Site {
  place: Place;
  addresses: Address[];
  /** In the order in which they are asked. */
  handlers: Handler[];
  /** Directives that handle no request, of the site as a whole: `tls`, `bind`, `log` … */
  settings: Directive[];
  /** The same within a `handle`, a `route` or a named route, where Caddy does not take them. */
  innerSettings: Directive[];
}

const HOLDS_OTHERS = new Set(['handle', 'handle_path', 'route']);

interface Context {
  order: Order;
  routes: ReadonlyMap<string, ServerBlock>;
  /** Named routes that led here: one that leads to itself would never end. */
  invoked: readonly string[];
  /** How many more lines may be read, over all sites: named routes multiply as imports do. */
  budget: Budget;
  /** Where what handles no request is put. */
  settings: Directive[];
}

/** Counts down, shared by all that is read. */
export interface Budget {
  left: number;
}

const readHandler = (directive: Directive, matchers: Matchers | undefined, context: Context): Handler => {
  const name = directive.name.text;
  const matcher = matcherOf(directive.args[0], matchers);
  const args = matcher ? directive.args.slice(1) : directive.args;
  const handler: Handler = {
    name,
    directive,
    matcher: matcher ?? EVERY_REQUEST,
    args,
    inner: undefined,
    proxy: undefined,
  };
  if (HOLDS_OTHERS.has(name)) {
    if (name === 'handle_path' && matcher?.paths?.length !== 1) {
      throw new CaddyfileError('handle_path needs one path', directive.name, name);
    }
    if (args.length > 0) throw new CaddyfileError(`${name} takes a matcher and a block`, args[0]!, args[0]!.text);
    for (const setting of settingsIn(directive.block ?? [])) context.settings.push(setting);
    handler.inner = readHandlers(directive.block ?? [], matchers, context, name !== 'route');
  } else if (name === 'invoke') handler.inner = readInvoked(directive, args, matchers, context);
  else if (isReverseProxy(name)) handler.proxy = readReverseProxy(directive, args);
  return handler;
};

const readInvoked = (
  { name }: Directive,
  args: readonly Token[],
  matchers: Matchers | undefined,
  context: Context,
): Handler[] => {
  const route = args[0]?.text ?? '';
  const block = context.routes.get(route);
  const refuse = (why: string) => new CaddyfileError(`the named route ${show(route)} ${why}`, args[0] ?? name, route);
  if (!block) throw refuse('is not there');
  if (context.invoked.includes(route)) throw refuse('invokes itself');
  if (context.invoked.length > 20) throw refuse('is invoked by too many others');
  const handlers = readHandlers(
    block.directives,
    matchers,
    { ...context, invoked: [...context.invoked, route] },
    false,
  );
  for (const setting of settingsIn(block.directives)) context.settings.push(setting);
  return handlers;
};

/** What handles requests among the lines of a block. */
const readHandlers = (
  lines: readonly Directive[],
  around: Matchers | undefined,
  context: Context,
  isSorted: boolean,
): Handler[] => {
  const [first] = lines;
  context.budget.left -= lines.length;
  if (first && context.budget.left < 0)
    throw new CaddyfileError('named routes make too much of this', first.name, first.name.text);
  const matchers = readMatchers(lines, around);
  const handlers: Handler[] = [];
  for (const line of lines) {
    const name = line.name.text;
    if (name.startsWith('@') || !handlesRequests(name)) continue;
    checkNesting(line);
    handlers.push(readHandler(line, matchers, context));
  }
  return isSorted ? inOrder(handlers, context.order) : handlers;
};

/** A site in another's block is a forgotten brace, and no directive of a plugin. */
const checkNesting = ({ name, block }: Directive): void => {
  if (block === undefined || isKnownDirective(name.text) || !/[.:/]/.test(name.text)) return;
  throw new CaddyfileError(
    `${show(name.text)} looks like a site within another: is a closing brace missing before, or has the first one none?`,
    name,
    name.text,
  );
};

/** Where a site with this address is reached. */
export const portOf = ({ scheme, port }: Address, { httpPort, httpsPort }: GlobalOptions): number =>
  port ?? (scheme === 'http' ? httpPort : httpsPort);

const readAddress = (token: Token, options: GlobalOptions): Address => {
  const address = parseAddress(token);
  const port = portOf(address, options);
  const { scheme } = address;
  if ((scheme === 'http' && port === options.httpsPort) || (scheme === 'https' && port === options.httpPort)) {
    throw new CaddyfileError(`the address ${show(token.text)} is ${scheme} on port ${port}`, token, token.text);
  }
  return address;
};

const settingsIn = (lines: readonly Directive[]): Directive[] =>
  lines.filter(({ name }) => !name.text.startsWith('@') && !handlesRequests(name.text));

/** Reads what a site means. Throws a `CaddyfileError` at the first thing in it that means nothing. */
export const readSite = (
  { place, keys, directives }: ServerBlock,
  options: GlobalOptions,
  routes: ReadonlyMap<string, ServerBlock>,
  budget: Budget,
): Site => {
  const innerSettings: Directive[] = [];
  const context = { order: options.order, routes, invoked: [], budget, settings: innerSettings };
  return {
    place,
    addresses: keys.map((key) => readAddress(key, options)),
    handlers: readHandlers(directives, undefined, context, true),
    settings: settingsIn(directives),
    innerSettings,
  };
};
