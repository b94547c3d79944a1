import type { Handler, Matcher, Site } from '@sallyport/caddyfile';

/** What becomes of requests for one name of a site. */
export interface Trace {
  /** The `reverse_proxy` that takes every request that nothing before it took. */
  primary: Handler | undefined;
  /** What answers instead, when it is no `reverse_proxy`: `respond`, `redir`, `file_server` … */
  end: Handler | undefined;
  /** What is for some requests only. */
  partial: Handler[];
  /** What every request passes. */
  passed: Handler[];
}

/** Directives that answer, so that what follows them is never asked. */
export const ANSWERS = new Set(['abort', 'acme_server', 'error', 'file_server', 'metrics', 'redir', 'respond']);
/** Of these, the first that matches is asked and no other. */
const EXCLUSIVE = new Set(['handle', 'handle_path']);

/** Whether a directive sends requests to where their answers come from; `forward_auth` only asks there. */
export const forwards = ({ proxy, name }: Handler): boolean => proxy !== undefined && name !== 'forward_auth';

/** The wildcard that covers a name, or nothing: `*.b.c` for `a.b.c`. */
export const wildcardOf = (name: string): string => name.replace(/^[^.]*/, '*');

const matchesHost = ({ hosts, hasOtherHosts }: Matcher, name: string): 'yes' | 'no' | 'some' => {
  if (hosts === undefined || hosts.has(name) || hosts.has(wildcardOf(name)) || hosts.has('*')) return 'yes';
  return hasOtherHosts ? 'some' : 'no';
};

/** Whether a directive is for all, none or some of the requests for `name`. */
const matches = (matcher: Matcher, name: string): 'yes' | 'no' | 'some' => {
  const byHost = matchesHost(matcher, name);
  if (byHost === 'no') return 'no';
  if (matcher.others.length > 0) return 'some';
  if (matcher.paths && !matcher.paths.some((path) => path === '*' || path === '/*')) return 'some';
  return byHost;
};

const walk = (handlers: readonly Handler[], name: string, trace: Trace): boolean => {
  let isHandled = false;
  for (const handler of handlers) {
    const match = matches(handler.matcher, name);
    const isExclusive = EXCLUSIVE.has(handler.name);
    if (match === 'no' || (isExclusive && isHandled)) continue;
    if (match === 'some') trace.partial.push(handler);
    else if (handler.inner) {
      isHandled ||= isExclusive;
      if (walk(handler.inner, name, trace)) return true;
    } else if (forwards(handler)) {
      trace.primary = handler;
      return true;
    } else if (ANSWERS.has(handler.name)) {
      trace.end = handler;
      return true;
    } else trace.passed.push(handler);
  }
  return false;
};

/** Follows a request for `name` through a site, in the order in which Caddy asks its directives. */
export const traceName = (site: Site, name: string): Trace => {
  const trace: Trace = { primary: undefined, end: undefined, partial: [], passed: [] };
  walk(site.handlers, name, trace);
  return trace;
};

/** All of a site's handlers, those within others after them. */
export const allHandlers = (handlers: readonly Handler[]): Handler[] =>
  handlers.flatMap((handler) => [handler, ...allHandlers(handler.inner ?? [])]);
