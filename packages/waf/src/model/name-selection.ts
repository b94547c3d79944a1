import { bytesOf } from '../bytes/bytes.ts';
import type { CompiledPattern } from '../regex/index.ts';

/** Which names of a collection are meant; null means all. */
export type NameSelector =
  | { readonly kind: 'literal'; readonly key: string }
  | { readonly kind: 'regex'; readonly source: string; readonly pattern: CompiledPattern };

/** A variable, known by identity: there is one object of each name. */
type NamedVariable = { readonly name: string };

/** `!VAR` or `!VAR:name`: values that a rule leaves out. */
export type Exclusion = { readonly variable: NamedVariable; readonly selector: NameSelector | null };

const nameUnits = 200_000;
const maxRemembered = 4_096;
const remembered = new WeakMap<object, Map<string, boolean>>();

/** Whether a selector means the name `key` (lower case). A regular expression that runs out of work does not. */
export const selects = (selector: NameSelector | null, key: string): boolean => {
  if (selector === null) return true;
  if (selector.kind === 'literal') return selector.key === key;
  let answers = remembered.get(selector.pattern);
  if (answers === undefined) {
    answers = new Map();
    remembered.set(selector.pattern, answers);
  }
  let answer = answers.get(key);
  if (answer === undefined) {
    if (answers.size >= maxRemembered) answers.clear();
    const bytes = bytesOf(key);
    answer = selector.pattern.test(bytes, 0, bytes.length, { units: nameUnits, exceeded: false });
    if (key.length <= 256) answers.set(key, answer);
  }
  return answer;
};

/** Whether any exclusion takes out the value of `variable` named `key`. */
export const isExcluded = (exclusions: readonly Exclusion[] | null, variable: NamedVariable, key: string): boolean => {
  if (exclusions === null) return false;
  for (const exclusion of exclusions) {
    if (exclusion.variable === variable && selects(exclusion.selector, key)) return true;
  }
  return false;
};
