import { addAll } from '../add-all.ts';
import { NginxError } from './error.ts';
import type { Token } from './lex.ts';
import type { Directive } from './parse.ts';
import { named, type Scope } from './scope.ts';

/** A `location` block. */
export interface Location {
  at: Token;
  modifier: string;
  path: string;
  /** As it is put into messages. */
  text: string;
  scope: Scope;
  /** Where it sends requests. */
  pass: Directive | undefined;
}

/** The upstream of a location as it is written, or undefined. */
export const passedTo = ({ pass }: Location): string | undefined => pass?.args[0]?.text;

/** What becomes of the requests for a server. */
export interface Routing {
  /** The location that takes all requests that no other takes. */
  main: Location | undefined;
  /** Locations for some requests, those within others after them. */
  others: Location[];
}

const MODIFIERS = new Set(['', '=', '~', '~*', '^~']);
const PASSES = ['proxy_pass', 'grpc_pass'] as const;

const locationOf = (directive: Directive, outer: Scope): Location => {
  const { name: at, args, block = [] } = directive;
  let [modifier, path] = args.length === 2 ? [args[0]!.text, args[1]!.text] : ['', args[0]!.text];
  const glued = args.length === 1 ? /^(=|~\*|~|\^~)(.+)$/.exec(path) : null;
  if (glued) [modifier, path] = [glued[1]!, glued[2]!];
  if (!MODIFIERS.has(modifier)) throw new NginxError(`${modifier} is no kind of location`, args[0]!, modifier);
  const passes = PASSES.flatMap((pass) => named(block, pass));
  if (passes[1]) throw new NginxError(`${passes[1].name.text} is there twice`, passes[1].name, passes[1].name.text);
  const text = `${modifier} ${path}`.trim();
  return { at, modifier, path, text, scope: { own: block, outer }, pass: passes[0] };
};

const locationsIn = (scope: Scope): Location[] => {
  const found: Location[] = [];
  const seen = new Set<string>();
  for (const directive of named(scope.own, 'location')) {
    const one = locationOf(directive, scope);
    // A prefix is one, whether or not it keeps patterns away.
    const key = `${one.modifier === '^~' ? '' : one.modifier} ${one.path}`;
    if (seen.has(key)) throw new NginxError(`the location ${one.text} is there twice`, one.at, one.text);
    seen.add(key);
    found.push(one);
    addAll(found, locationsIn(one.scope));
  }
  return found;
};

const ALL = new Set([
  '~ /',
  '~* /',
  '~ ^/',
  '~* ^/',
  '~ .*',
  '~* .*',
  '~ ^.*$',
  '~ .',
  '~ ^/(.*)$',
  '~ ^/(.*)',
  '~ ^/.*',
]);

/** The named location that a `try_files` ends at. */
const fallbackOf = ({ scope }: Location, all: readonly Location[]): Location | undefined => {
  const last = named(scope.own, 'try_files').at(-1)?.args.at(-1)?.text;
  return last?.startsWith('@') ? all.find(({ path }) => path === last) : undefined;
};

/** Reads the locations of a server. Throws a `NginxError` for what nginx would refuse. */
export const routingOf = (server: Scope): Routing => {
  const all = locationsIn(server);
  // The first pattern that fits wins over every prefix.
  const pattern = all.find(({ text, scope }) => ALL.has(text) && scope.outer === server);
  const root = all.find(
    ({ modifier, path, scope }) => path === '/' && (modifier === '' || modifier === '^~') && scope.outer === server,
  );
  let main = pattern ?? root;
  if (main && !main.pass) main = fallbackOf(main, all) ?? main;
  const ofServer = { at: main?.at, scope: server } as Location;
  main ??= fallbackOf(ofServer, all);
  return { main, others: all.filter((one) => one !== main) };
};
