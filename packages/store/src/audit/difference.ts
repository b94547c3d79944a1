const MASK = '***';
const MAX_TEXT = 1_024;
const MAX_DEPTH = 6;

/** Names of fields that hold a credential, whatever their spelling. */
const SECRET_NAME = /passw(or)?d|secret|token|sealed|hash|private_?key|key_?pem|recovery_codes|authorization|cookie/i;

/** Facts about a credential that are no credential. */
const HARMLESS = new Set(['token_id', 'totp_required', 'hashed']);

const shorten = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;

const mask = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return shorten(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => mask(item, depth + 1));
  return maskFields(value, depth);
};

const isSecret = (name: string, value: unknown): boolean =>
  SECRET_NAME.test(name) && !HARMLESS.has(name) && value !== null && value !== '' && typeof value !== 'boolean';

const maskFields = (fields: object, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, isSecret(name, value) ? MASK : mask(value, depth + 1)]),
  );

export interface Difference {
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

/**
 * What a change made different: with both sides given only the fields that differ, else the side there is. Values of
 * secret fields become `***` after they were compared; long texts are cut.
 */
export const differenceOf = (before: object | undefined, after: object | undefined): Difference => {
  if (!before || !after) {
    return { ...(before ? { before: maskFields(before, 0) } : {}), ...(after ? { after: maskFields(after, 0) } : {}) };
  }
  const old = before as Record<string, unknown>;
  const fresh = after as Record<string, unknown>;
  const changed = Object.keys({ ...old, ...fresh }).filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]),
  );
  const pick = (side: Record<string, unknown>) =>
    maskFields(Object.fromEntries(changed.filter((name) => name in side).map((name) => [name, side[name]])), 0);
  return { before: pick(old), after: pick(fresh) };
};
