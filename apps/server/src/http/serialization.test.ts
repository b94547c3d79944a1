import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { registerSerialization, serializerOf } from './serialization.ts';

test('what is stored is shown however good it is, and nothing but the fields there are', () => {
  const write = serializerOf({
    type: 'object',
    additionalProperties: false,
    properties: {
      // Fields that are named as keywords are.
      pattern: { type: 'string', pattern: '^a$', maxLength: 1, minLength: 1, format: 'uuid' },
      enum: { type: 'string', enum: ['a'] },
      const: { type: 'number', minimum: 1, maximum: 2, multipleOf: 2, exclusiveMinimum: 1, exclusiveMaximum: 2 },
      list: { type: 'array', minItems: 3, maxItems: 3, uniqueItems: true, items: { type: 'string', format: 'date' } },
      either: { anyOf: [{ type: 'string', maxLength: 1 }, { type: 'null' }] },
      left: { type: 'object', default: { pattern: 'as it is' } },
    },
    required: ['enum'],
  });
  const stored = { pattern: 'long', enum: 'z', const: 99, list: ['no date', 'no date'], either: 'long' };
  expect(JSON.parse(write({ ...stored, secret: 'x' }))).toEqual({ ...stored, left: { pattern: 'as it is' } });
  expect(JSON.parse(write({ ...stored, either: null }))).toMatchObject({ either: null });
  expect(() => write({ ...stored, enum: undefined })).toThrow('"enum" is required!');
});

test.each([
  ['string', 'stored', { minLength: 99 }, { maxLength: 1 }, { pattern: '^a$' }, { format: 'uuid' }, { enum: ['a'] }],
  ['number', 7, { minimum: 8 }, { maximum: 6 }, { exclusiveMinimum: 7 }, { exclusiveMaximum: 7 }, { multipleOf: 2 }],
  ['array', [1, 1], { minItems: 3 }, { maxItems: 1 }, { uniqueItems: true }],
])('a %s is one of several kinds of value whatever its bounds are', (type, stored, ...bounds) => {
  for (const bound of bounds as object[]) {
    const write = serializerOf({ anyOf: [{ type, ...bound }, { type: 'null' }] });
    expect(write(stored), JSON.stringify(bound)).toBe(JSON.stringify(stored));
  }
});

test('one kind of answer is told from another by what it always says', () => {
  const kind = (value: string, field: string) => ({
    type: 'object',
    properties: { kind: { const: value }, [field]: { type: 'string', maxLength: 1 } },
    required: ['kind'],
  });
  const write = serializerOf({ anyOf: [kind('a', 'one'), kind('b', 'two')] });
  expect(write({ kind: 'b', one: 'x', two: 'long' })).toBe('{"kind":"b","two":"long"}');
  expect(write({ kind: 'a', one: 'long', two: 'x' })).toBe('{"kind":"a","one":"long"}');
});

test('a serializer is made once, and a server answers by it', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string', maxLength: 1 } } };
  expect(serializerOf(schema)).toBe(serializerOf(schema));
  expect(serializerOf({ ...schema })).not.toBe(serializerOf(schema));
  const app = Fastify();
  registerSerialization(app);
  app.get('/', { schema: { response: { 200: schema } } }, async () => ({ a: 'long', b: 'secret' }));
  expect((await app.inject('/')).body).toBe('{"a":"long"}');
});
