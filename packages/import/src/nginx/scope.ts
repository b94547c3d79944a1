import type { Directive } from './parse.ts';

/** What holds at a place: its own directives, and those of the blocks around it. */
export interface Scope {
  own: readonly Directive[];
  outer: Scope | undefined;
}

/** Directives by name, maps by their variable, of lists that are asked often: `http` may hold ten thousand servers. */
const indexes = new WeakMap<readonly Directive[], Map<string, Directive[]>>();

const keyOf = ({ name, args }: Directive): string => (name.text === 'map' ? `map ${args[1]?.text}` : name.text);

/** Of a list, the directives of a name; of maps, `map $variable`. */
export const named = (own: readonly Directive[], name: string): readonly Directive[] => {
  let index = indexes.get(own);
  if (!index) {
    index = Map.groupBy(own, keyOf);
    indexes.set(own, index);
  }
  return index.get(name) ?? [];
};

/** Of a name, the directives of the innermost block that has any: nginx inherits all or nothing. */
export const inForce = (scope: Scope | undefined, name: string): readonly Directive[] => {
  for (let one = scope; one; one = one.outer) {
    const found = named(one.own, name);
    if (found.length > 0) return found;
  }
  return [];
};

/** The value of a directive that is there once, or undefined. */
export const lastValueOf = (scope: Scope, name: string): string | undefined =>
  inForce(scope, name).at(-1)?.args[0]?.text;

/** What `set` gives a variable where a scope is; undefined when it depends on the request. */
const setValue = (scope: Scope, name: string): string | undefined => {
  const values = new Set<string>();
  const collect = (directives: readonly Directive[]): void => {
    for (const { args } of named(directives, 'set')) if (args[0]?.text === `$${name}`) values.add(args[1]!.text);
    for (const { block } of named(directives, 'if')) collect(block ?? []);
  };
  for (let one: Scope | undefined = scope; one; one = one.outer) collect(one.own);
  const [value] = values;
  return values.size === 1 ? value : undefined;
};

/** What `map` gives a variable: its one value, or that for TLS when it asks for the scheme. */
const mapValue = (scope: Scope, name: string): string | undefined => {
  let outermost = scope;
  while (outermost.outer) outermost = outermost.outer;
  const [map] = named(outermost.own, `map $${name}`);
  if (!map) return undefined;
  const lines = map.block ?? [];
  if (map.args[0]!.text === '$scheme') return lines.find((line) => line.name.text === 'https')?.args[0]?.text;
  return lines.length === 1 && lines[0]!.name.text === 'default' ? lines[0]!.args[0]?.text : undefined;
};

const MAX_ROUNDS = 5;
const MAX_VALUE = 4096;

/** A text with the variables that have one value replaced; the others stay. */
export const resolved = (text: string, scope: Scope): string => {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS && current.includes('$'); round++) {
    const next = current.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
      const name = (braced ?? bare)!;
      return setValue(scope, name) ?? mapValue(scope, name) ?? whole;
    });
    if (next === current || next.length > MAX_VALUE) break;
    current = next;
  }
  return current;
};
