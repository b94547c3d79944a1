/**
 * Builders of schemas: those of TypeBox that we use, by its types. The library itself is loaded by nobody who runs: its 683 modules
 * take 15 MB of memory in each process and a fifth of a second of its start (docs/decisions/0009-memory-at-rest.md).
 */
import type { Type as TypeBox } from 'typebox';

export type { Static, TSchema } from 'typebox';

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;

/** Schemas of fields that may be absent; in JSON it is the object's `required` that says so. */
const optional = new WeakSet<Schema>();

const asOptional = (schema: Schema): Schema => {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
};

const object = (properties: Properties, options?: Schema): Schema => {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as Schema));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
};

const builders = {
  Array: (items: Schema, options?: Schema): Schema => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema): Schema => ({ type: 'boolean', ...options }),
  Integer: (options?: Schema): Schema => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Schema): Schema => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Schema): Schema => ({ type: 'null', ...options }),
  Number: (options?: Schema): Schema => ({ type: 'number', ...options }),
  Object: object,
  Optional: asOptional,
  Partial: ({ properties }: { properties: Properties }, options?: Schema): Schema =>
    object(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asOptional(schema)])), options),
  // Names are texts, and any text is one.
  Record: (_name: Schema, value: Schema, options?: Schema): Schema => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Schema): Schema => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema): Schema => ({ anyOf, ...options }),
  Unknown: (options?: Schema): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
} satisfies Record<keyof Builders, unknown>;

export const Type = builders as unknown as Builders;
