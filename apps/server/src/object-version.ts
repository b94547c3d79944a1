import { hash } from 'node:crypto';

/**
 * Fields that change without anybody changing the object. They are part of its representation, so that nobody keeps an
 * old one, but no reason to refuse a change that was made with the object as it was.
 */
const STATE_FIELDS: ReadonlySet<string> = new Set([
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
]);

/** The digest has 132 bits; nobody can make two objects that share it. */
const DIGEST_LENGTH = 22;

/** The order in which fields were put together is none of the object's. */
const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const digest = (value: unknown): string =>
  hash('sha256', JSON.stringify(value, sorted), 'base64url').slice(0, DIGEST_LENGTH);

/** Names what is stored of an object; the same as long as nobody changes it. Part of its entity tag. */
export const versionOf = (object: object): string =>
  digest(Object.entries(object).filter(([name]) => !STATE_FIELDS.has(name)));

/** The entity tag of an object as it is sent: its version and a digest of the rest (RFC 9110, section 8.8.3). */
export const entityTag = (object: object): string => {
  const state = Object.entries(object).filter(([name, value]) => STATE_FIELDS.has(name) && value !== undefined);
  return state.length === 0 ? `"${versionOf(object)}"` : `"${versionOf(object)}.${digest(state)}"`;
};

/**
 * Throws a 412 with the object as it is now when a caller made a change for another version of it. Called inside the
 * transaction that makes the change, with what that found.
 */
export type CheckVersion = (current: object) => void;

/** For changes of our own, and callers who do not say which version they mean. */
export const anyVersion: CheckVersion = () => {};
