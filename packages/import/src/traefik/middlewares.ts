import { type Loss, loss } from '../loss.ts';
import type { ImportedHost, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import type { Dynamic } from './dynamic.ts';
import type { Tree } from './tree.ts';

/** What the middlewares of a router come to. */
export interface Passed {
  /** Whether what comes without TLS is sent to https. */
  secures: boolean;
  fields: Pick<ImportedHost, 'hsts_enabled' | 'hsts_subdomains'>;
  losses: Loss[];
}

const KEEPERS: Readonly<Record<string, string>> = {
  basicauth: 'asks for a password',
  digestauth: 'asks for a password',
  forwardauth: 'asks another server who may come in',
  ipallowlist: 'lets only some addresses in',
  ipwhitelist: 'lets only some addresses in',
};

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  addprefix: 'paths are passed on as they are',
  buffering: 'bodies of requests have the limits of the whole proxy',
  circuitbreaker: 'a proxy host has one upstream and asks it always',
  compress: 'answers are not compressed on the way',
  contenttype: 'headers of answers are not changed',
  errors: 'pages for errors are those of the origin',
  grpcweb: 'requests are passed on as they are',
  inflightreq: 'limits are set for the whole proxy, see its guard',
  passtlsclientcert: 'certificates of clients are not passed on',
  ratelimit: 'limits are set for the whole proxy, see its guard',
  redirectregex: 'nothing is redirected',
  replacepath: 'paths are passed on as they are',
  replacepathregex: 'paths are passed on as they are',
  retry: 'a request is sent once',
  stripprefix: 'paths are passed on as they are',
  stripprefixregex: 'paths are passed on as they are',
};

const MAX_DEPTH = 10;
const MAX_PASSED = 100;

/** The entries of a list, which labels have with commas. */
export const listOf = (tree: Tree | undefined): string[] =>
  tree?.text !== undefined
    ? tree.text.split(',').map((part) => part.trim())
    : (tree?.items ?? []).flatMap(({ text }) => text ?? []);

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

const pass = (name: string, at: Place, dynamic: Dynamic, passed: Passed, depth: number): void => {
  const middleware = dynamic.middlewares.get(withoutProvider(name));
  if (passed.losses.length >= MAX_PASSED) return;
  if (!middleware || depth > MAX_DEPTH) {
    const message = `the middleware ${shorten(name)} is not in the files: it may have kept requests out`;
    passed.losses.push(loss(at, message, true));
    return;
  }
  for (const [kind, one] of middleware.fields) {
    if (kind === 'chain') {
      for (const inner of listOf(one.fields.get('middlewares'))) pass(inner, one.at, dynamic, passed, depth + 1);
    } else if (kind === 'redirectscheme' && one.fields.get('scheme')?.text === 'https') passed.secures = true;
    else if (kind === 'headers') headersOf(one, one.at, passed);
    else if (Object.hasOwn(KEEPERS, kind)) {
      const message = `the middleware ${shorten(name)} ${KEEPERS[kind]}, which is not taken over: give the host an access list`;
      passed.losses.push(loss(one.at, message, true));
    } else if (Object.hasOwn(WITHOUT_EFFECT, kind)) {
      passed.losses.push(loss(one.at, `the middleware ${shorten(name)} (${kind}): ${WITHOUT_EFFECT[kind]}`));
    } else {
      const message = `the middleware ${shorten(name)} (${shorten(kind)}) is not taken over: it may have kept requests out`;
      passed.losses.push(loss(one.at, message, true));
    }
  }
};

/** What a router's middlewares do to requests. */
export const passedBy = (router: Tree, dynamic: Dynamic): Passed => {
  const passed: Passed = { secures: false, fields: {}, losses: [] };
  const middlewares = router.fields.get('middlewares');
  for (const name of listOf(middlewares)) pass(name, middlewares!.at, dynamic, passed, 0);
  return passed;
};

export { withoutProvider };
