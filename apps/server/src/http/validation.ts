import { REFUSAL, REFUSED_FIELDS, SERVER_ASSIGNED } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyInstance } from 'fastify';
import { type ObjectSchema, takeKnown, takeKnownParameters } from './known-fields.ts';
import { ASSETS_PREFIX, DOCS_PREFIX } from './policy.ts';

const createAjv = (coerceTypes: boolean) => {
  // `verbose` hands the violated schema to `describe`; discriminating messages need it.
  const ajv = new Ajv({ coerceTypes, useDefaults: true, removeAdditional: false, allErrors: false, verbose: true });
  ajv.addKeyword(SERVER_ASSIGNED);
  ajv.addKeyword(REFUSED_FIELDS);
  ajv.addKeyword(REFUSAL);
  addFormats.default(ajv, ['uuid', 'date-time', 'email', 'uri']);
  return ajv;
};

/** What they compile they keep by its schema: the servers of one process, as in tests, share it. */
const strict = createAjv(false);
const coercing = createAjv(true);

/** Compiles the schema of a part of requests. Throws an `Error` for what is none. */
export const compileSchema = (schema: object, httpPart: string | undefined): ValidateFunction =>
  (httpPart === 'body' ? strict : coercing).compile(schema);

const nameOf = (error: ErrorObject): string =>
  error.instancePath
    .slice(1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');

const article = (type: string) => (/^(?!uuid)[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

const typesOf = (schema: unknown): string => {
  const options = (schema as { anyOf?: { type?: string; format?: string }[] }).anyOf ?? [];
  return options
    .map((option) => (option.type === 'null' ? 'null' : article(option.format ?? option.type ?? 'value')))
    .join(' or ');
};

const rule = (error: ErrorObject): string => {
  const { keyword, params, parentSchema } = error;
  switch (keyword) {
    case 'type':
      return `must be ${article(String(params.type))}`;
    case 'minimum':
    case 'maximum': {
      const { minimum, maximum } = parentSchema as { minimum?: number; maximum?: number };
      return minimum !== undefined && maximum !== undefined
        ? `must be between ${minimum} and ${maximum}`
        : (error.message ?? 'is out of range');
    }
    case 'maxLength':
      return `must be at most ${params.limit} characters long`;
    case 'minLength':
      return params.limit === 1 ? 'is required' : `must be at least ${params.limit} characters long`;
    case 'minItems':
      return `must have at least ${params.limit} ${params.limit === 1 ? 'entry' : 'entries'}`;
    case 'maxItems':
      return `must have at most ${params.limit} entries`;
    case 'format':
      return `must be a valid ${params.format}`;
    case 'enum':
      return `must be one of: ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'anyOf':
      return `must be ${typesOf(parentSchema)}`;
    default:
      return error.message ?? 'is not valid';
  }
};

/** Says in one sentence which field is wrong and why ("domain is required"); never repeats the value. */
export const describe = (errors: readonly ErrorObject[], part: string): string => {
  // A failed union reports each alternative before itself; only its own error says what is allowed.
  const error = errors.find(({ keyword }) => keyword === 'anyOf') ?? errors[0];
  if (!error) return `${part} is not valid`;
  if (error.keyword === 'required') {
    const parent = nameOf(error);
    const missing = String(error.params.missingProperty);
    return `${parent === '' ? missing : `${parent}.${missing}`} is required`;
  }
  const { [REFUSAL]: refusal } = (error.parentSchema ?? {}) as { [REFUSAL]?: string };
  return refusal ?? `${nameOf(error) || part} ${rule(error)}`;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For what probes and scrapers ask: they put into the query what they like. */
    ignoresQuery?: boolean;
  }
}

const PART_NAMES: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'headers',
};

const IGNORED_FIELDS_HEADER = 'X-Sallyport-Ignored-Fields';

/** Finds a string with a NUL in it, which no store and no map can hold; returns the path to it. */
const findNul = (value: unknown, path: string): string | undefined => {
  if (typeof value === 'string') return value.includes('\0') ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const found = key.includes('\0') ? path || 'body' : findNul(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
};

/**
 * Validates with Ajv: strictly typed bodies, coerced queries and paths, messages that name field and reason.
 * Fields and parameters that a route does not have are refused by name; fields that the server assigns are ignored and
 * named in a response header, so that what GET gave can be PUT back (contract.md, Errors).
 */
export const registerValidation = (app: FastifyInstance): void => {
  // Compiled when it is first used, as what writes answers is (serialization.ts); schemas.test.ts compiles all of them.
  app.setValidatorCompiler(({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined;
    return (data: unknown) => {
      validate ??= compileSchema(schema as object, httpPart);
      return validate(data) ? true : { error: validate.errors as never };
    };
  });
  app.setSchemaErrorFormatter((errors, part) =>
    refuse.invalid(describe(errors as unknown as ErrorObject[], PART_NAMES[part] ?? part)),
  );
  app.addHook('preValidation', async (request, reply) => {
    // Strings of a query end up in the same statements as those of a body.
    const nulInQuery = findNul(request.query, '');
    if (nulInQuery !== undefined) throw refuse.invalid(`${nulInQuery} must not contain NUL characters`);
    const { schema, config, url = '' } = request.routeOptions;
    // Of paths that do not exist, and of a library's pages, nothing is known.
    if (!config.policy || url.startsWith(DOCS_PREFIX) || url.startsWith(ASSETS_PREFIX)) return;
    if (!config.ignoresQuery) takeKnownParameters(request.query as object, schema?.querystring as ObjectSchema);
    const bodySchema = schema?.body as ObjectSchema | undefined;
    if (!bodySchema?.properties) {
      // Whoever sends a body means something by it.
      if (typeof request.body === 'object' && request.body !== null) takeKnown(request.body, {});
      return;
    }
    // The parser of forms is there for uploads, and leaves the body to the route.
    if (request.isMultipart()) throw refuse.invalid('Content-Type must be application/json');
    // A change of which nothing arrived must not pass for done; elsewhere the missing field is what the answer names.
    if (request.body === undefined && request.method === 'PUT') throw refuse.invalid('body is required');
    if (request.body === undefined) request.body = {};
    const body = request.body;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw refuse.invalid('body must be a JSON object');
    }
    const nul = findNul(body, '');
    if (nul !== undefined) throw refuse.invalid(`${nul} must not contain NUL characters`);
    const ignored = takeKnown(body, bodySchema);
    if (ignored.length > 0) {
      reply.header(IGNORED_FIELDS_HEADER, [...new Set(ignored)].slice(0, 20).join(', '));
    }
  });
};
