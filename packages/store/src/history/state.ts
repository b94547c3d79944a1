import { hash } from 'node:crypto';
import { STATE_FIELDS } from '../object-version.ts';

/** Fields of an object, by name. */
export type State = Readonly<Record<string, unknown>>;

/** Both sides of a change: the fields that it made different, or all of an object that came or went. */
export interface Change {
  before: State | null;
  after: State | null;
}

/** A longer value is kept once, where it is needed to bring it back; the other side is told by its digest. */
const MAX_AFTER = 1_024;

/** What stands for a long value. */
interface Outline {
  $sha256: string;
  begins: string;
  length: number;
}

const isOutline = (value: unknown): value is Outline =>
  typeof value === 'object' && value !== null && '$sha256' in value;

/** Whether two values of a field are the same as JSON. */
export const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

const isKept = (name: string): boolean => name !== 'updated_at' && !STATE_FIELDS.has(name);

const keptFields = (object: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([name, value]) => isKept(name) && value !== undefined));

const outlineOf = (value: unknown): unknown => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.length <= MAX_AFTER) return value;
  return { $sha256: hash('sha256', text), begins: text.slice(0, MAX_AFTER), length: text.length } satisfies Outline;
};

const outlined = (state: State): State =>
  Object.fromEntries(Object.entries(state).map(([name, value]) => [name, outlineOf(value)]));

/** Whether a field still has the value that a change gave it. */
export const isAsChanged = (value: unknown, after: unknown): boolean =>
  isSame(isOutline(after) ? outlineOf(value) : (value ?? null), after);

/** What is shown of a value: of a long one its beginning. */
export const shownValue = (value: unknown): unknown =>
  isOutline(value) ? `${value.begins}… (${value.length} characters)` : (value ?? null);

/** What a change made different; undefined when that is nothing that anybody chose. */
export const changeOf = (before: object | undefined, after: object | undefined): Change | undefined => {
  if (!before || !after) {
    if (before) return { before: keptFields(before), after: null };
    return after && { before: null, after: outlined(keptFields(after)) };
  }
  const old = before as State;
  const fresh = after as State;
  const was: Record<string, unknown> = {};
  const became: Record<string, unknown> = {};
  for (const name of Object.keys({ ...old, ...fresh })) {
    const value = old[name];
    const next = fresh[name];
    if (!isKept(name) || isSame(value, next)) continue;
    // Null also stands for what was not there: a field that came with a later version goes back to its default.
    was[name] = value ?? null;
    became[name] = outlineOf(next ?? null);
  }
  return Object.keys(was).length === 0 ? undefined : { before: was, after: became };
};
