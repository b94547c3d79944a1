import type { Directive, Handler, Matcher } from '@sallyport/caddyfile';
import { isKnownDirective } from '@sallyport/caddyfile';
import { type Loss, loss } from '../loss.ts';
import { inWords, type Redirection } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { redirectionOf } from './redirection.ts';
import { ANSWERS, forwards } from './trace.ts';

/** Directives that let somebody in only who may. */
const WHO_MAY: Readonly<Record<string, string>> = {
  basic_auth: 'asks for a password',
  basicauth: 'asks for a password',
  forward_auth: 'asks another server who may come in',
};

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  encode: 'answers are not compressed on the way',
  header: 'headers of answers are not changed',
  log_append: 'the access log has fields of its own',
  log_name: 'the access log has its own form',
  log_skip: 'the access log has every request',
  map: 'values that depend on the request are not known',
  method: 'the method of requests is not changed',
  push: 'nothing is pushed',
  request_body: 'bodies of requests have the limits of the whole proxy',
  request_header: 'headers of requests are not changed',
  rewrite: 'paths are passed on as they are',
  root: 'no files are served',
  skip_log: 'the access log has every request',
  templates: 'answers are no templates',
  timeouts: 'the whole proxy has one set of timeouts',
  tracing: 'requests are not traced',
  try_files: 'no files are served',
  uri: 'paths are passed on as they are',
  vars: 'values that depend on the request are not known',
};

const INNER = new Set(['handle', 'handle_path', 'invoke', 'route']);

const shown = ({ name, args }: Directive): string => shorten([name, ...args].map((token) => token.text).join(' '));

/** What is lost of a directive that every request passes. */
const lossOf = (handler: Handler): Loss => {
  const { name, directive } = handler;
  const place = directive.name;
  if (Object.hasOwn(WHO_MAY, name)) {
    return loss(place, `${name} ${WHO_MAY[name]}, which is not taken over: give the host an access list`, true);
  }
  if (name === 'rewrite' && movesAll(handler))
    return loss(place, `${shown(directive)}: paths are passed on as they are, also those beside it`, true);
  if (Object.hasOwn(WITHOUT_EFFECT, name)) return loss(place, `${shown(directive)}: ${WITHOUT_EFFECT[name]}`);
  if (isKnownDirective(name)) return loss(place, `${shown(directive)} is not taken over`);
  return loss(
    place,
    `${shown(directive)} is no directive of Caddy itself and is not taken over: it may have kept requests out`,
    true,
  );
};

/** Whether a `rewrite` puts requests below another path. */
const movesAll = ({ args }: Handler): boolean =>
  /^\/.+\{(?:uri|path|http\.request\.(?:uri|uri\.path))\}/.test(args[0]?.text ?? '');

/** Whether what answers refuses: a status of 4xx or 5xx, or no answer at all. */
const refuses = ({ name, args }: Handler): boolean =>
  name === 'abort' || name === 'error' || (name === 'respond' && args.some(({ text }) => /^[45]\d\d$/.test(text)));

/** What is asked for, and not who asks. */
const OF_REQUEST = new Set([
  ...['file', 'header', 'header_regexp', 'host', 'method', 'path', 'path_regexp', 'protocol', 'query'],
  ...['not file', 'not host', 'not method', 'not path', 'not path_regexp', 'not protocol'],
]);

const isOfRequest = ({ others }: Matcher): boolean => others.every((other) => OF_REQUEST.has(other));

/** Whether requests that match end here, or go elsewhere. */
const takesAway = (handler: Handler): boolean =>
  ANSWERS.has(handler.name) || forwards(handler) || (handler.inner ?? []).some(takesAway);

const kept = (handler: Handler): boolean =>
  refuses(handler) ||
  Object.hasOwn(WHO_MAY, handler.name) ||
  !isKnownDirective(handler.name) ||
  // Some visitors are sent elsewhere; some paths are how a site is laid out.
  (!isOfRequest(handler.matcher) && takesAway(handler)) ||
  (handler.inner ?? []).some(kept);

const targetsOf = (handler: Handler): string[] => {
  if (handler.proxy && forwards(handler)) return handler.proxy.upstreams.slice(0, 1).map(({ token }) => token.text);
  return (handler.inner ?? []).flatMap(targetsOf);
};

const redirectsIn = (handler: Handler): Redirection[] => {
  const own = redirectionOf(handler);
  return own ? [own] : (handler.inner ?? []).flatMap(redirectsIn);
};

/** What is lost of a directive that is for some requests only. */
const lossOfPart = (handler: Handler, upstream: string | undefined): Loss => {
  const { directive, matcher } = handler;
  const some = `requests that match ${matcher.text}`;
  const targets = targetsOf(handler);
  const isSame = forwards(handler) && targets[0] === upstream;
  if (isSame) return loss(directive.name, `${some} have a reverse_proxy of their own, to the same upstream`);
  if (targets.length > 0) {
    const message = `${some} go to ${targets.slice(0, 3).join(', ')} in the Caddyfile; a proxy host sends all to one upstream`;
    return loss(directive.name, message, kept(handler));
  }
  const redirect = redirectsIn(handler)[0];
  if (redirect) {
    const message = `${some} are redirected to ${inWords(redirect)} in the Caddyfile; here they go to the upstream`;
    return loss(directive.name, message, kept(handler));
  }
  if (INNER.has(handler.name)) {
    return loss(directive.name, `what ${handler.name} does with ${some} is not taken over`, kept(handler));
  }
  if (kept(handler))
    return loss(directive.name, `${shown(directive)} keeps ${some} out, which is not taken over`, true);
  return { ...lossOf(handler), keptOut: false };
};

/** Whether anything that handles requests keeps some, or all, of them out. */
export const keepsOut = (handlers: readonly Handler[]): boolean => handlers.some(kept);

/** All that is lost of what some requests, or all, pass. `chosen` is what the host was made of. */
export const lossesOf = (
  { partial, passed }: { partial: readonly Handler[]; passed: readonly Handler[] },
  chosen: Handler | undefined,
): Loss[] => [
  ...passed.map(lossOf),
  ...partial.filter((one) => one !== chosen).map((one) => lossOfPart(one, chosen && targetsOf(chosen)[0])),
];
