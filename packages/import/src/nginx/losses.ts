import { shorten } from '../draft.ts';
import { type Loss, loss } from '../loss.ts';
import { isKnown, KEEPERS, READ, STATIC_FILES, WITHOUT_EFFECT } from './directives.ts';
import type { Location } from './location.ts';
import type { Directive } from './parse.ts';
import { redirectOf } from './redirect.ts';
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
  if (what === 'return') return /^4\d\d$/.test(args[0]?.text ?? '');
  if (Object.hasOwn(KEEPERS, what)) return !LETS_ALL_IN[what]?.includes(args[0]?.text ?? '');
  return what === 'include' || !(isKnown(what) || what === 'return');
};

/** Whether something within a block keeps requests out. */
const keepsWithin = (directives: readonly Directive[]): boolean =>
  directives.some((one) => keeps(one) || (one.name.text !== 'location' && keepsWithin(one.block ?? [])));

/** Handled where they are read: by name, since they hold for all below them. */
const INHERITED = new Set(['add_header', 'proxy_set_header', ...Object.keys(KEEPERS)]);

const aboutIf = (directive: Directive, scope: Scope): Loss => {
  const block = directive.block ?? [];
  const what = shown(directive);
  if (keepsWithin(block)) return loss(directive.name, `${what} keeps some requests out, which is not taken over`, true);
  const to = block.map((one) => redirectOf(one, scope)).find((address) => address !== undefined);
  if (to !== undefined)
    return loss(directive.name, `${what} redirects some requests to ${shorten(to)}; here it does not`);
  return loss(directive.name, `what ${what} does is not taken over`);
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
  const isClosed = keepsWithin(scope.own);
  const some = `requests for ${shorten(text)}`;
  if (isClosed) return loss(at, `${some} are kept out, or only some let in, which is not taken over`, true);
  if (pass && sameTarget) return undefined;
  if (pass) {
    const to = shorten(pass.args[0]!.text);
    return loss(at, `${some} go to ${to} in nginx; a proxy host sends all to one upstream`);
  }
  if (modifier === '' && text.startsWith('@')) return loss(at, `${text} is not taken over`);
  const to = scope.own.map((one) => redirectOf(one, scope)).find((address) => address !== undefined);
  if (to !== undefined)
    return loss(at, `${some} are redirected to ${shorten(to)} in nginx; here they go to the upstream`);
  return loss(at, `${some} are answered in another way by nginx; here they go to the upstream`);
};

/** Directives of a block, and those within it, that serve files. Error pages and challenges of certificates are no sites. */
export const staticFilesIn = (directives: readonly Directive[]): Directive[] =>
  directives.flatMap((one) => {
    if (STATIC_FILES.has(one.name.text)) return [one];
    const isAside = one.name.text === 'location' && /50x|\/\.well-known\//.test(one.args.at(-1)?.text ?? '');
    return isAside ? [] : staticFilesIn(one.block ?? []);
  });
