import { type Loss, loss } from '../loss.ts';
import { inWords, type Redirection } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { isKnown, KEEPERS, READ, STATIC_FILES, WITHOUT_EFFECT } from './directives.ts';
import type { Location } from './location.ts';
import type { Directive } from './parse.ts';
import { conditionOf, movesAll, redirectOfSome } from './redirect.ts';
import { inForce, type Scope } from './scope.ts';

const LETS_ALL_IN: Readonly<Record<string, readonly string[]>> = {
  auth_basic: ['off'],
  auth_request: ['off'],
  auth_jwt: ['off'],
  allow: ['all'],
  satisfy: ['all', 'any'],
  ssl_verify_client: ['off'],
};

const shown = ({ name, args }: Directive): string => shorten([name, ...args].map(({ text }) => text).join(' '));

const keeps = ({ name, args }: Directive): boolean => {
  const what = name.text;
  if (what === 'return') return /^[45]\d\d$/.test(args[0]?.text ?? '');
  if (Object.hasOwn(KEEPERS, what)) return !LETS_ALL_IN[what]?.includes(args[0]?.text ?? '');
  return what === 'include' || !(isKnown(what) || what === 'return');
};

/** Whether something within a block keeps requests out. */
const keepsWithin = (directives: readonly Directive[]): boolean =>
  directives.some((one) => keeps(one) || (one.name.text !== 'location' && keepsWithin(one.block ?? [])));

/** Whether something anywhere in a block keeps requests out. */
export const keepsAnywhere = (directives: readonly Directive[]): boolean =>
  directives.some((one) => keeps(one) || keepsAnywhere(one.block ?? []));

/** Conditions about what is asked for, and not about who asks. */
const ABOUT_REQUEST =
  /^\((?:!?-[defx]|\$(?:arg_\w+|args|document_uri|host|http_host|http_upgrade|http_x_forwarded_proto|https|is_args|query_string|request_filename|request_method|request_uri|scheme|server_name|server_port|server_protocol|ssl_protocol|uri)\b)/;
const TAKES_AWAY = new Set([...STATIC_FILES, 'grpc_pass', 'proxy_pass', 'return', 'rewrite']);

/** Handled where they are read: by name, since they hold for all below them. */
const INHERITED = new Set(['add_header', 'proxy_set_header', ...Object.keys(KEEPERS)]);

/** The first redirect in a block, of all paths or of some. */
const redirectIn = (block: readonly Directive[], scope: Scope): Redirection | undefined => {
  for (const one of block) {
    const found = redirectOfSome(one, scope);
    if (found) return found;
  }
  return undefined;
};

const aboutIf = (directive: Directive, scope: Scope): Loss => {
  const block = directive.block ?? [];
  const what = shown(directive);
  if (keepsWithin(block)) return loss(directive.name, `${what} keeps some requests out, which is not taken over`, true);
  // Who is sent elsewhere does not get to the upstream; for a path that is how a site is laid out.
  const isOfRequest = ABOUT_REQUEST.test(conditionOf(directive));
  const redirect = redirectIn(block, scope);
  if (redirect)
    return loss(
      directive.name,
      `${what} redirects some requests to ${inWords(redirect)}; here it does not`,
      !isOfRequest,
    );
  const takesAway = block.some(({ name }) => TAKES_AWAY.has(name.text));
  return loss(directive.name, `what ${what} does is not taken over`, takesAway && !isOfRequest);
};

const lossOf = (directive: Directive, scope: Scope): Loss | undefined => {
  const { name } = directive;
  const what = name.text;
  if (what === 'if') {
    const isOfValues = directive.block?.every((one) => one.name.text === 'set');
    return isOfValues ? undefined : aboutIf(directive, scope);
  }
  if (what === 'include')
    return loss(name, `${shown(directive)} is not among the files: it may have kept requests out`, true);
  if (INHERITED.has(what) || READ.has(what) || what.startsWith('ssl_certificate')) return undefined;
  const redirect = redirectOfSome(directive, scope);
  if (redirect) {
    const which = redirect.pattern === undefined ? 'all requests' : `requests for ${shorten(redirect.pattern)}`;
    return loss(name, `${which} are redirected to ${inWords(redirect)} in nginx; here they go to the upstream`);
  }
  if (what === 'rewrite' && movesAll(directive))
    return loss(name, `${shown(directive)}: paths are passed on as they are, also those beside it`, true);
  if (Object.hasOwn(WITHOUT_EFFECT, what)) {
    const isOff = directive.args[0]?.text === 'off';
    return isOff ? undefined : loss(name, `${shown(directive)}: ${WITHOUT_EFFECT[what]}`);
  }
  if (STATIC_FILES.has(what)) return loss(name, `${shown(directive)}: no files are served`);
  if (what === 'return') return loss(name, `${shown(directive)} is not taken over`, keeps(directive));
  if (isKnown(what)) return loss(name, `${shown(directive)} is not taken over`);
  return loss(
    name,
    `${shown(directive)} is no directive of nginx itself and is not taken over: it may have kept requests out`,
    true,
  );
};

/** What is lost of the directives of one block. `isExpressed` are those that a host says in its own way. */
export const lossesIn = (scope: Scope, isExpressed: (directive: Directive) => boolean): Loss[] =>
  scope.own.filter((one) => !isExpressed(one)).flatMap((one) => lossOf(one, scope) ?? []);

/** What is lost of what holds for all servers, and may have kept requests out of each. */
export const lossesOfHttp = (http: readonly Directive[], isRead: (name: string) => boolean): Loss[] =>
  http.flatMap(({ name, args }): Loss[] => {
    const what = name.text;
    // A pattern that fits no file is as good as none, but for what was not uploaded: that is told for all of them.
    const isMissing = what === 'include' && !/[*?[]/.test(args[0]?.text ?? '');
    if (!isMissing && (what === 'include' || isRead(what) || isKnown(what))) return [];
    return [
      loss(name, `${shown({ name, args, block: undefined })} is for all servers: it may have kept requests out`, true),
    ];
  });

/** What is lost of who may come in, wherever it was said. */
export const lossesOfAccess = (scope: Scope): Loss[] =>
  Object.keys(KEEPERS).flatMap((what) => {
    const directives = inForce(scope, what).filter(keeps);
    // Addresses are a list; one line says it.
    const [first] = directives;
    if (!first || (what === 'allow' && inForce(scope, 'deny').filter(keeps).length === 0)) return [];
    const message = `${shown(first)} ${KEEPERS[what]}, which is not taken over: give the host an access list`;
    return [loss(first.name, message, true)];
  });

/** What is lost of a location that is for some requests only, in one sentence. `sameTarget`: it leads where the host does. */
export const lossOfLocation = (
  { at, text, scope, pass, modifier }: Location,
  sameTarget: boolean,
): Loss | undefined => {
  // Also by what it inherits and the location of the host undoes.
  const isClosed = keepsWithin(scope.own) || lossesOfAccess(scope).length > 0;
  const some = `requests for ${shorten(text)}`;
  if (isClosed) return loss(at, `${some} are kept out, or only some let in, which is not taken over`, true);
  if (pass && sameTarget) return undefined;
  if (pass) {
    const to = shorten(pass.args[0]!.text);
    return loss(at, `${some} go to ${to} in nginx; a proxy host sends all to one upstream`);
  }
  if (modifier === '' && text.startsWith('@')) return loss(at, `${text} is not taken over`);
  const redirect = redirectIn(scope.own, scope);
  if (redirect)
    return loss(at, `${some} are redirected to ${inWords(redirect)} in nginx; here they go to the upstream`);
  return loss(at, `${some} are answered in another way by nginx; here they go to the upstream`);
};

/** Directives of a block, and those within it, that serve files. Error pages and challenges of certificates are no sites. */
export const staticFilesIn = (directives: readonly Directive[]): Directive[] =>
  directives.flatMap((one) => {
    if (STATIC_FILES.has(one.name.text)) return [one];
    const isAside = one.name.text === 'location' && /50x|\/\.well-known\//.test(one.args.at(-1)?.text ?? '');
    return isAside ? [] : staticFilesIn(one.block ?? []);
  });
