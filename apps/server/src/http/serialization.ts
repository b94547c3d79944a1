import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';

type Serializer = (data: unknown) => string;

/** What says no more of a value than that it is a good one. */
const BOUNDS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
  'enum',
]);
/** What holds values, and no schemas. */
const PLAIN: ReadonlySet<string> = new Set(['const', 'default', 'examples', 'required']);

/**
 * A schema that takes what is stored as it is. A row that got into the store past the API, as by an older version, is shown, so that
 * it can be mended: one of them must not keep a whole list from being answered.
 */
const unbounded = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(unbounded);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !BOUNDS.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (PLAIN.has(keyword)) return [keyword, value];
      // Names of fields, which may be those of keywords.
      if (keyword === 'properties') {
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, field]) => [name, unbounded(field)]))];
      }
      return [keyword, unbounded(value)];
    }),
  );
};

/** By schema: the servers of one process, as in tests, share theirs. */
const serializers = new WeakMap<object, Serializer>();

/** What writes answers of a schema. Throws an `Error` for what is none. */
export const serializerOf = (schema: object): Serializer => {
  const known = serializers.get(schema);
  if (known) return known;
  const made = fastJsonStringify(unbounded(schema) as object);
  serializers.set(schema, made);
  return made;
};

/**
 * Writes answers as their schemas say. What does so is made with the first answer of a kind: made for all of them at the start, it would
 * be a good part of the time that a start takes, and of the memory of a server that is asked for little.
 */
export const registerSerialization = (app: FastifyInstance): void => {
  app.setSerializerCompiler(
    ({ schema }) =>
      (data: unknown) =>
        serializerOf(schema as object)(data),
  );
};
