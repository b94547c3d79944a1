import { isDeepStrictEqual } from 'node:util';

type Json = unknown;

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NAME = /^[A-Z]\w*$/;

/**
 * Gathers schemas that have a title under `#/components/schemas`, where they can be referred to by name. Throws for two
 * that share a title and differ: a name must mean one thing.
 */
export const createComponents = () => {
  const schemas: Record<string, Json> = {};

  /** The same document part with a reference in the place of every named schema; `part` itself is left alone. */
  const refer = (part: Json): Json => {
    if (Array.isArray(part)) return part.map(refer);
    if (!isObject(part)) return part;
    const inner = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, refer(value)]));
    const { title } = part;
    if (part.type !== 'object' || typeof title !== 'string' || !NAME.test(title)) return inner;
    if (schemas[title] !== undefined && !isDeepStrictEqual(schemas[title], inner)) {
      throw new Error(`two schemas are called ${title}`);
    }
    schemas[title] = inner;
    return { $ref: `#/components/schemas/${title}` };
  };

  return { schemas, refer };
};
