import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';

type Serializer = (data: unknown) => string;

/** By schema: the servers of one process, as in tests, share theirs. */
const serializers = new WeakMap<object, Serializer>();

const serializerOf = (schema: object): Serializer => {
  const known = serializers.get(schema);
  if (known) return known;
  const made = fastJsonStringify(schema);
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
