import { REFUSED_FIELDS, SERVER_ASSIGNED } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { closestName } from './closest-name.ts';

/** As much of a JSON schema as is needed to know which fields there are. */
export interface ObjectSchema {
  properties?: Record<string, ObjectSchema>;
  items?: ObjectSchema;
  /** Fields that are ignored: the server assigns them. */
  [SERVER_ASSIGNED]?: readonly string[];
  /** Why fields are not taken. */
  [REFUSED_FIELDS]?: Readonly<Record<string, string>>;
}

const MAX_NAME_LENGTH = 64;

/** A field name comes from the caller, and is repeated to no other. */
const shown = (name: string) => name.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_NAME_LENGTH);

/** Throws the 400 for a name that is none of `names`; `at` is the path that leads to it. */
export const refuseUnknown = (
  what: 'field' | 'parameter',
  key: string,
  names: readonly string[],
  at: string = key,
): never => {
  const closest = closestName(key, names);
  const prefix = at.slice(0, at.length - key.length);
  const hint = closest === undefined ? '' : `; did you mean ${shown(prefix + closest)}?`;
  const known = names.length === 0 ? 'none' : names.join(', ');
  throw refuse.invalid(`${shown(at)} is not a known ${what}${hint}`, { details: `known ${what}s: ${known}` });
};

/**
 * Removes from a body what its schema says the server assigns, also of objects within it, and returns the paths of
 * that. Throws a 400 that names a field the schema does not have, with the closest one that it has: no layer behind
 * this one may take a caller's field for a column, and nothing that a caller says is lost in silence.
 */
export const takeKnown = (value: unknown, schema: ObjectSchema | undefined, path = ''): string[] => {
  if (typeof value !== 'object' || value === null || !schema) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => takeKnown(item, items, `${path}[${index}]`)) : [];
  }
  const { properties = path === '' ? {} : undefined } = schema;
  const { [SERVER_ASSIGNED]: assigned = [], [REFUSED_FIELDS]: refused = {} } = schema;
  if (!properties) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const at = path === '' ? key : `${path}.${key}`;
    if (Object.hasOwn(properties, key)) return takeKnown(item, properties[key], at);
    if (Object.hasOwn(refused, key)) throw refuse.invalid(`${shown(at)} ${refused[key]}`);
    if (!assigned.includes(key)) refuseUnknown('field', key, Object.keys(properties), at);
    delete (value as Record<string, unknown>)[key];
    return [at];
  });
};

/** Throws a 400 that names a query parameter the schema does not have. */
export const takeKnownParameters = (query: object, schema: ObjectSchema | undefined): void => {
  const names = Object.keys(schema?.properties ?? {});
  for (const key of Object.keys(query)) {
    if (!names.includes(key)) refuseUnknown('parameter', key, names);
  }
};
