import { hash } from 'node:crypto';

/**
 * Fields that change without anybody changing the object. They are part of its representation, so that nobody keeps an
 * old one, but no reason to refuse a change that was made with the object as it was.
 */
export const STATE_FIELDS: ReadonlySet<string> = new Set([
  'applied',
  'issue',
  'warning',
  'warnings',
  'used_by',
  'used_by_total',
  'reachable',
  'last_checked',
  'last_login',
  'last_used_at',
  'steps',
  'problem',
  'last_attempt_at',
  'next_attempt_at',
  'renew_after',
]);

/** The digest has 132 bits; nobody can make two objects that share it. */
const DIGEST_LENGTH = 22;

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, DIGEST_LENGTH);

/** Fields of one kind of object, in one order however it was put together. */
interface Fields {
  names: readonly string[];
  /** The names as text: part of what is digested, so that a value is that of its field. */
  key: string;
}

interface Shape {
  stored: Fields;
  state: Fields;
}

const fieldsOf = (names: readonly string[]): Fields => ({ names, key: names.join() });

/** Objects of one kind mostly have the same fields in the same order: sorting them once is enough. */
const shapes = new Map<string, Shape>();
const MAX_SHAPES = 1_000;

const shapeOf = (object: object): Shape => {
  const names = Object.keys(object);
  const key = names.join();
  const known = shapes.get(key);
  if (known) return known;
  const sorted = names.sort();
  const shape = {
    stored: fieldsOf(sorted.filter((name) => !STATE_FIELDS.has(name))),
    state: fieldsOf(sorted.filter((name) => STATE_FIELDS.has(name))),
  };
  if (shapes.size >= MAX_SHAPES) shapes.clear();
  shapes.set(key, shape);
  return shape;
};

const textOf = (object: object, { names, key }: Fields): string => {
  const values: unknown[] = [key];
  for (const name of names) values.push((object as Readonly<Record<string, unknown>>)[name]);
  return JSON.stringify(values);
};

/** Most objects are in one of few states. */
const stateDigests = new Map<string, string>();
const MAX_STATES = 1_000;

const digestState = (text: string): string => {
  const known = stateDigests.get(text);
  if (known !== undefined) return known;
  const made = digest(text);
  if (stateDigests.size >= MAX_STATES) stateDigests.clear();
  stateDigests.set(text, made);
  return made;
};

/** Names what is stored of an object; the same as long as nobody changes it. Part of its entity tag. */
export const versionOf = (object: object): string => digest(textOf(object, shapeOf(object).stored));

/** The entity tag of an object as it is sent: its version and a digest of the rest (RFC 9110, section 8.8.3). */
export const entityTag = (object: object): string => {
  const { stored, state } = shapeOf(object);
  const version = digest(textOf(object, stored));
  return state.names.length === 0 ? `"${version}"` : `"${version}.${digestState(textOf(object, state))}"`;
};

/**
 * Throws a 412 with the object as it is now when a caller made a change for another version of it. Called inside the
 * transaction that makes the change, with what that found.
 */
export type CheckVersion = (current: object) => void;

/** For changes of our own, and callers who do not say which version they mean. */
export const anyVersion: CheckVersion = () => {};
