import fc from 'fast-check';
import { type TSchema, Type as TypeBox } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { compileCheck } from './check.ts';
import { GuardConfig } from './guard-config.ts';
import { GuardMessage } from './guard-message.ts';
import { Type } from './schema.ts';

type Builders = typeof Type;
type Build = (builders: Builders) => TSchema;
/** A schema by whichever builders, and values that may or may not be of it. */
interface Sample {
  build: Build;
  value: fc.Arbitrary<unknown>;
}

const note = fc.option(fc.constant({ description: 'a note' }), { nil: undefined });
const leaf = (build: Build, value: fc.Arbitrary<unknown>): Sample => ({ build, value });
const small = fc.integer({ min: 0, max: 3 });
const name = fc.constantFrom('a', 'b', 'c', 'constructor');
const shortText = fc.string({ maxLength: 5, unit: fc.constantFrom('a', 'ä', '😀', '\n') });

const leaves: fc.Arbitrary<Sample> = fc.oneof(
  note.map((options) => leaf((T) => T.Boolean(options), fc.boolean())),
  note.map((options) => leaf((T) => T.Null(options), fc.constant(null))),
  note.map((options) => leaf((T) => T.Unknown(options), fc.jsonValue())),
  small.map((minimum) =>
    leaf((T) => T.Integer({ minimum, maximum: 3 }), fc.oneof(fc.integer({ min: -1, max: 5 }), fc.double())),
  ),
  small.map((minimum) => leaf((T) => T.Number({ minimum }), fc.double({ min: -1, max: 5, noNaN: true }))),
  fc.tuple(small, small).map(([minLength, maxLength]) => leaf((T) => T.String({ minLength, maxLength }), shortText)),
  fc.constant(leaf((T) => T.String({ pattern: '^a+$' }), shortText)),
  fc.constantFrom('x', 1, true).map((value) => leaf((T) => T.Literal(value), fc.constantFrom('x', 1, true))),
  fc.constant(leaf((T) => T.Unsafe({ type: 'string', enum: ['x', 'y'] }), fc.constantFrom('x', 'y', 'z'))),
);

const { schemas } = fc.letrec<{ schemas: Sample }>((tie) => ({
  schemas: fc.oneof(
    { maxDepth: 3 },
    leaves,
    fc.record({ items: tie('schemas'), maxItems: small }).map(({ items, maxItems }) => ({
      build: (T: Builders) => T.Array(items.build(T), { maxItems }),
      value: fc.array(items.value, { maxLength: 4 }),
    })),
    fc.array(tie('schemas'), { minLength: 1, maxLength: 3 }).map((options) => ({
      build: (T: Builders) => T.Union(options.map(({ build }) => build(T))),
      value: fc.oneof(...options.map(({ value }) => value)),
    })),
    fc.record({ item: tie('schemas'), options: note }).map(({ item, options }) => ({
      build: (T: Builders) => T.Record(T.String(), item.build(T), options),
      value: fc.dictionary(name, item.value),
    })),
    fc
      .record({
        fields: fc.dictionary(name, fc.tuple(tie('schemas'), fc.boolean()), { maxKeys: 4 }),
        isPartial: fc.boolean(),
        options: note,
      })
      .map(({ fields, isPartial, options }) => ({
        build: (T: Builders) => {
          const properties = Object.fromEntries(
            Object.entries(fields).map(([key, [{ build }, isOptional]]) => [
              key,
              isOptional ? T.Optional(build(T)) : build(T),
            ]),
          );
          return isPartial ? T.Partial(T.Object(properties), options) : T.Object(properties, options);
        },
        value: fc.record(Object.fromEntries(Object.entries(fields).map(([key, [{ value }]]) => [key, value])), {
          requiredKeys: [],
        }),
      })),
  ),
}));

test('our builders make what the library makes, as JSON', () => {
  fc.assert(
    fc.property(schemas, ({ build }) => {
      expect(JSON.stringify(build(Type))).toBe(JSON.stringify(build(TypeBox)));
    }),
    { numRuns: 500 },
  );
});

test('a check accepts what the library accepts, and says what is wrong with the rest', () => {
  const samples = schemas.chain(({ build, value }) =>
    fc.oneof({ weight: 4, arbitrary: value }, fc.jsonValue()).map((candidate) => ({ build, candidate })),
  );
  fc.assert(
    fc.property(samples, ({ build, candidate }) => {
      const check = compileCheck(build(Type));
      const isAccepted = Compile(build(TypeBox)).Check(candidate);
      expect(check.accepts(candidate)).toBe(isAccepted);
      expect(check.problem(candidate) === undefined).toBe(isAccepted);
    }),
    { numRuns: 2_000 },
  );
});

test('a problem names the place', () => {
  const config = {
    revision: 1,
    access: { enabled: false, lists: [] },
    waf: { enabled: false, mode: 'block', fail_mode: 'closed', rule_sources: [], exclusions: [] },
    admin_whitelist: [],
    hosts: [{ id: 1, access_list_id: null, waf_enabled: true, waf_settings: { 'tx.a\n': 'x' } }],
  };
  const problemOf = (change: object) => compileCheck(GuardConfig).problem({ ...config, ...change });
  const [host] = config.hosts;
  expect(problemOf({})).toBeUndefined();
  expect(problemOf({ revision: 0 })).toBe('.revision is less than 1');
  expect(problemOf({ access: undefined })).toBe('.access is no object');
  expect(problemOf({ hosts: [host, { ...host, id: '1' }] })).toBe('.hosts[1].id is no integer');
  expect(problemOf({ hosts: [{ id: 1 }] })).toBe('.hosts[0].access_list_id is missing');
  // The name has a line break, at which a dot stops.
  expect(problemOf({ hosts: [{ ...host, waf_settings: { 'tx.a\n': 1 } }] })).toBe(
    '.hosts[0].waf_settings.tx.a\n is no string',
  );
  expect(problemOf({ waf: { ...config.waf, mode: 'off' } })).toBe('.waf.mode is none of monitor, block');
});

test('moments must be moments', () => {
  const line = { type: 'log', level: 'info', source: 'guard', message: 'x', fields: {} };
  const isAccepted = (timestamp: string) => compileCheck(GuardMessage).accepts({ ...line, timestamp });
  expect(['2026-11-21T22:30:00.000Z', '2026-11-21T22:30:00+01:00'].map(isAccepted)).toEqual([true, true]);
  expect(['', 'today', '2026-13-21T22:30:00Z', '2026-11-21'].map(isAccepted)).toEqual([false, false, false, false]);
});

test('what it does not know is not passed over', () => {
  expect(() => compileCheck(Type.Object({ a: Type.String({ format: 'ipv4' }) }))).toThrow('ipv4');
  expect(() => compileCheck(Type.Array(Type.Null(), { uniqueItems: true }))).toThrow('uniqueItems');
});
