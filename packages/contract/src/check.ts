import type { Static, TSchema } from 'typebox';
import { REFUSAL, REFUSED_FIELDS, SERVER_ASSIGNED } from './primitives.ts';

/** Why a value is not as it should be, beginning with where: `.hosts[3].id is no integer`; undefined when it is. */
type Test = (value: unknown) => string | undefined;
type Schema = Readonly<Record<string, unknown>>;
type Keyword = (setting: never) => Test;

export interface Check<T> {
  accepts(value: unknown): value is T;
  /** What is wrong with it and where; undefined when nothing is. */
  problem(value: unknown): string | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value) => value === null,
  number: Number.isFinite,
  object: isObject,
  string: (value) => typeof value === 'string',
};

const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i,
};

/** Characters, not the halves that JavaScript counts. */
const lengthOf = (text: string, enough: number): number => (text.length <= enough ? text.length : [...text].length);

const forText =
  (isGood: (text: string) => boolean, problem: string): Test =>
  (value) =>
    typeof value !== 'string' || isGood(value) ? undefined : problem;

const forNumber =
  (isGood: (value: number) => boolean, problem: string): Test =>
  (value) =>
    typeof value !== 'number' || isGood(value) ? undefined : problem;

const forArray =
  (isGood: (value: readonly unknown[]) => boolean, problem: string): Test =>
  (value) =>
    !Array.isArray(value) || isGood(value) ? undefined : problem;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (name: string) => {
    const isOfType = TYPES[name];
    if (!isOfType) throw new Error(`a schema has a type that is not known: ${name}`);
    return (value) => (isOfType(value) ? undefined : ` is no ${name}`);
  },
  const: (wanted: unknown) => (value) => (value === wanted ? undefined : ` is not ${JSON.stringify(wanted)}`),
  enum: (choices: readonly unknown[]) => (value) =>
    choices.includes(value) ? undefined : ` is none of ${choices.join(', ')}`,
  minimum: (least: number) => forNumber((value) => value >= least, ` is less than ${least}`),
  maximum: (most: number) => forNumber((value) => value <= most, ` is more than ${most}`),
  minLength: (least: number) =>
    forText((text) => text.length >= 2 * least || [...text].length >= least, ` is shorter than ${least}`),
  maxLength: (most: number) => forText((text) => lengthOf(text, most) <= most, ` is longer than ${most}`),
  pattern: (source: string) => {
    const pattern = new RegExp(source, 'u');
    return forText((text) => pattern.test(text), ` does not match ${source}`);
  },
  format: (name: string) => {
    const format = FORMATS[name];
    if (!format) throw new Error(`a schema has a format that is not known: ${name}`);
    return forText((text) => format.test(text), ` is no ${name}`);
  },
  minItems: (least: number) => forArray(({ length }) => length >= least, ` has fewer than ${least} entries`),
  maxItems: (most: number) => forArray(({ length }) => length <= most, ` has more than ${most} entries`),
  items: (schema: Schema) => {
    const test = compile(schema);
    return (value) => {
      if (!Array.isArray(value)) return undefined;
      for (let i = 0; i < value.length; i++) {
        const problem = test(value[i]);
        if (problem !== undefined) return `[${i}]${problem}`;
      }
      return undefined;
    };
  },
  required: (names: readonly string[]) => (value) => {
    if (!isObject(value)) return undefined;
    const missing = names.find((name) => !Object.hasOwn(value, name));
    return missing === undefined ? undefined : `.${missing} is missing`;
  },
  properties: (properties: Readonly<Record<string, Schema>>) => {
    const tests = Object.entries(properties).map(([name, schema]) => [name, compile(schema)] as const);
    return (value) => {
      if (!isObject(value)) return undefined;
      for (const [name, test] of tests) {
        if (!Object.hasOwn(value, name)) continue;
        const problem = test(value[name]);
        if (problem !== undefined) return `.${name}${problem}`;
      }
      return undefined;
    };
  },
  patternProperties: (schemas: Readonly<Record<string, Schema>>) => {
    const tests = Object.entries(schemas).map(
      ([source, schema]) => [new RegExp(source, 'us'), compile(schema)] as const,
    );
    return (value) => {
      if (!isObject(value)) return undefined;
      for (const name of Object.keys(value)) {
        const test = tests.find(([pattern]) => pattern.test(name))?.[1];
        const problem = test?.(value[name]);
        if (problem !== undefined) return `.${name}${problem}`;
      }
      return undefined;
    };
  },
  anyOf: (schemas: readonly Schema[]) => {
    const tests = schemas.map(compile);
    return (value) => {
      let problem: string | undefined = ' has no form';
      for (const test of tests) {
        problem = test(value);
        if (problem === undefined) return undefined;
      }
      return problem;
    };
  },
};

/** Say nothing about the value. */
const NOTES: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  SERVER_ASSIGNED,
  REFUSED_FIELDS,
  REFUSAL,
]);

const compile = (schema: Schema): Test => {
  const tests = Object.entries(schema).flatMap(([name, setting]) => {
    if (NOTES.has(name)) return [];
    const keyword = KEYWORDS[name];
    // What is not looked at would not be checked.
    if (!keyword) throw new Error(`a schema has a keyword that is not known: ${name}`);
    return [keyword(setting as never)];
  });
  return (value) => {
    for (const test of tests) {
      const problem = test(value);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
};

/** Prepares the check of values against a schema of ours. Throws for a schema with anything in it that it does not know. */
export const compileCheck = <T extends TSchema>(schema: T): Check<Static<T>> => {
  const test = compile(schema as unknown as Schema);
  return {
    accepts: (value): value is Static<T> => test(value) === undefined,
    problem: (value) => test(value)?.trimStart(),
  };
};
