import type { Directive } from '../parse/tree.ts';
import { CaddyfileError, show } from '../text/error.ts';
import type { Token } from '../text/token.ts';

/** Which requests a directive is for. */
export interface Matcher {
  /** As it stands in the file; empty when there is none. */
  text: string;
  /** Whether it lets every request through, by having no condition. */
  isAll: boolean;
  /** The paths that it asks for, when it asks for nothing else but perhaps a host. */
  paths: readonly string[] | undefined;
  /** The hosts that it asks for, wildcards for a first label among them. */
  hosts: ReadonlySet<string> | undefined;
  /** Whether it asks for hosts by other patterns, too. */
  hasOtherHosts: boolean;
  /** Names of everything else that it asks for. */
  others: readonly string[];
}

export const EVERY_REQUEST: Matcher = {
  text: '',
  isAll: true,
  paths: undefined,
  hosts: undefined,
  hasOtherHosts: false,
  others: [],
};

const ofPaths = (text: string, paths: readonly string[]): Matcher => {
  return { text, isAll: false, paths, hosts: undefined, hasOtherHosts: false, others: [] };
};

/** Named matchers of a block, and those of the blocks around it. */
export interface Matchers {
  own: ReadonlyMap<string, Matcher>;
  around: Matchers | undefined;
}

/** What a condition asks for: its name, or `not` and those of the conditions in it. */
const namesOf = ({ name, args, block }: Directive): string[] => {
  if (name.text !== 'not') return [name.text];
  const inner = [...args.slice(0, 1), ...(block ?? []).map((one) => one.name)];
  return inner.length === 0 ? ['not'] : inner.map(({ text }) => `not ${text}`);
};

/** What the lines of one named matcher ask for; all of them have to be so. */
const readConditions = (text: string, conditions: readonly Directive[]): Matcher => {
  const all = (name: string) => {
    const values = conditions
      .filter((one) => one.name.text === name)
      .flatMap(({ args }) => args.map((arg) => arg.text));
    return values.length === 0 ? undefined : values;
  };
  const others = conditions.flatMap(namesOf).filter((name) => name !== 'path' && name !== 'host');
  const [paths, hosts] = [all('path'), all('host')?.map((host) => host.toLowerCase())];
  return {
    text,
    isAll: false,
    paths: others.length === 0 ? paths : undefined,
    hosts: hosts && new Set(hosts),
    hasOtherHosts: hosts?.some((host) => /[{}]|^\*[^.]|.\*/.test(host)) ?? false,
    others,
  };
};

/** Reads `@name …`, on one line or with a block. */
const readNamed = ({ name, args, block }: Directive): Matcher => {
  const [first, ...rest] = args;
  if (name.text.length === 1) throw new CaddyfileError('a matcher needs a name after the @', name, name.text);
  if (first === undefined) return readConditions(name.text, block ?? []);
  // A quoted condition by itself is an expression.
  if (first.quote !== '' && rest.length === 0)
    return { ...EVERY_REQUEST, text: name.text, isAll: false, others: ['expression'] };
  return readConditions(name.text, [{ name: first, args: rest, ...(block && { block }) }]);
};

/** The named matchers that a block defines, on top of those around it. Throws when a name is taken within the block. */
export const readMatchers = (lines: readonly Directive[], around: Matchers | undefined): Matchers | undefined => {
  const definitions = lines.filter(({ name }) => name.text.startsWith('@'));
  if (definitions.length === 0) return around;
  const own = new Map<string, Matcher>();
  for (const definition of definitions) {
    const { name } = definition;
    if (own.has(name.text)) throw new CaddyfileError(`there is a matcher ${show(name.text)} already`, name, name.text);
    own.set(name.text, readNamed(definition));
  }
  return { own, around };
};

/** The matcher that a directive's first argument is, or the one that lets everything through. */
export const matcherOf = (first: Token | undefined, matchers: Matchers | undefined): Matcher | undefined => {
  if (first === undefined) return undefined;
  if (first.text === '*') return { ...EVERY_REQUEST, text: '*' };
  if (first.text.startsWith('/')) return ofPaths(first.text, [first.text]);
  if (!first.text.startsWith('@')) return undefined;
  for (let scope = matchers; scope; scope = scope.around) {
    const named = scope.own.get(first.text);
    if (named) return named;
  }
  throw new CaddyfileError(`there is no matcher ${show(first.text)}`, first, first.text);
};
