import { type Loss, loss } from '../loss.ts';
import type { ImportedHost, Place } from '../reading.ts';
import { inWords, type Redirection } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import type { Dynamic } from './dynamic.ts';
import type { EntryPoint } from './entry-points.ts';
import { listOf } from './list.ts';
import type { Tree } from './tree.ts';

/** What the middlewares of a router come to. */
export interface Passed {
  /** Whether what comes without TLS is sent to https. */
  secures: boolean;
  /** Where all requests, or those that fit a pattern, are redirected to. */
  redirect: Redirection | undefined;
  fields: Pick<ImportedHost, 'hsts_enabled' | 'hsts_subdomains'>;
  losses: Loss[];
  /** Whether there were too many to look at all of them. */
  isCut: boolean;
}

const KEEPERS: Readonly<Record<string, string>> = {
  basicauth: 'asks for a password',
  digestauth: 'asks for a password',
  forwardauth: 'asks another server who may come in',
  ipallowlist: 'lets only some addresses in',
  ipwhitelist: 'lets only some addresses in',
};

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  buffering: 'bodies of requests have the limits of the whole proxy',
  circuitbreaker: 'a proxy host has one upstream and asks it always',
  compress: 'answers are not compressed on the way',
  contenttype: 'headers of answers are not changed',
  errors: 'pages for errors are those of the origin',
  grpcweb: 'requests are passed on as they are',
  inflightreq: 'limits are set for the whole proxy, see its guard',
  passtlsclientcert: 'certificates of clients are not passed on',
  ratelimit: 'limits are set for the whole proxy, see its guard',
  replacepathregex: 'paths are passed on as they are',
  retry: 'a request is sent once',
  stripprefix: 'paths are passed on as they are',
  stripprefixregex: 'paths are passed on as they are',
};

/** They put requests below another path, so that what is beside it is not reached. */
const MOVES = new Set(['addprefix', 'replacepath']);

const MAX_DEPTH = 10;
const MAX_PASSED = 100;

const headersOf = (headers: Tree, at: Place, passed: Passed): void => {
  const seconds = Number(headers.fields.get('stsseconds')?.text ?? 0);
  if (seconds > 0) {
    const subdomains = headers.fields.get('stsincludesubdomains')?.text === 'true';
    passed.fields = { hsts_enabled: true, hsts_subdomains: subdomains };
    if (seconds !== 63_072_000) {
      passed.losses.push(loss(at, `Strict-Transport-Security is sent for two years, not for ${seconds} s`));
    }
  }
  for (const key of headers.fields.keys()) {
    if (key === 'stsseconds' || key === 'stsincludesubdomains' || (key === 'sslredirect' && seconds > 0)) continue;
    passed.losses.push(loss(at, `the middleware headers: ${shorten(key)} is not taken over`));
  }
};

const withoutProvider = (name: string): string => name.toLowerCase().replace(/@[a-z]+$/, '');

const redirectOf = (kind: string, { fields }: Tree): Redirection => {
  const setting = (key: string) => shorten(fields.get(key)?.text ?? '', 120);
  const code = setting('permanent') === 'true' ? '301' : '302';
  if (kind === 'redirectregex') return { to: `${setting('replacement')} for ${setting('regex')}`, code };
  const port = setting('port');
  return { to: `${setting('scheme')}://${port && ` at port ${port}`}`, code };
};

const passOne = (name: string, [kind, one]: [string, Tree], dynamic: Dynamic, passed: Passed, depth: number): void => {
  const lose = (message: string, keptOut = false) =>
    passed.losses.push(loss(one.at, `the middleware ${shorten(name)} ${message}`, keptOut));
  if (kind === 'chain') {
    for (const inner of listOf(one.fields.get('middlewares'))) pass(inner, one.at, dynamic, passed, depth + 1);
  } else if (kind === 'redirectscheme' && one.fields.get('scheme')?.text === 'https') passed.secures = true;
  else if (kind === 'redirectscheme' || kind === 'redirectregex') {
    passed.redirect = redirectOf(kind, one);
    lose(`redirects to ${inWords(passed.redirect)} in Traefik; here nothing is redirected`);
  } else if (kind === 'headers') headersOf(one, one.at, passed);
  else if (Object.hasOwn(KEEPERS, kind))
    lose(`${KEEPERS[kind]}, which is not taken over: give the host an access list`, true);
  else if (MOVES.has(kind)) lose(`(${kind}): paths are passed on as they are, also those beside it`, true);
  else if (Object.hasOwn(WITHOUT_EFFECT, kind)) lose(`(${kind}): ${WITHOUT_EFFECT[kind]}`);
  else lose(`(${shorten(kind)}) is not taken over: it may have kept requests out`, true);
};

const pass = (name: string, at: Place, dynamic: Dynamic, passed: Passed, depth: number): void => {
  const middlewares = dynamic.middlewares.get(withoutProvider(name));
  if (passed.losses.length >= MAX_PASSED) {
    const message = 'there are more middlewares than are looked at: they may have kept requests out';
    if (!passed.isCut) passed.losses.push(loss(at, message, true));
    passed.isCut = true;
    return;
  }
  if (!middlewares || depth > MAX_DEPTH) {
    const message = `the middleware ${shorten(name)} is not in the files: it may have kept requests out`;
    passed.losses.push(loss(at, message, true));
    return;
  }
  for (const middleware of middlewares) {
    for (const one of middleware.fields) passOne(name, one, dynamic, passed, depth);
  }
};

/** The entry points of a router that are known; without a list it has all. */
export const pointsOf = (router: Tree, { entryPoints }: Dynamic): EntryPoint[] => {
  const names = listOf(router.fields.get('entrypoints')).map((name) => name.toLowerCase());
  if (names.length === 0) return [...entryPoints.values()];
  return names.flatMap((name) => entryPoints.get(name) ?? []);
};

/** What a router's middlewares, and those of its entry points before them, do to requests. */
export const passedBy = (router: Tree, dynamic: Dynamic): Passed => {
  const passed: Passed = { secures: false, redirect: undefined, fields: {}, losses: [], isCut: false };
  const points = pointsOf(router, dynamic);
  for (const { middlewares, at } of points) for (const name of middlewares) pass(name, at, dynamic, passed, 0);
  passed.secures ||= points.some(({ secures }) => secures);
  const middlewares = router.fields.get('middlewares');
  for (const name of listOf(middlewares)) pass(name, middlewares!.at, dynamic, passed, 0);
  return passed;
};

export { withoutProvider };
