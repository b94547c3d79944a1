import { STATUS_CODES } from 'node:http';
import { ErrorBody } from '@sallyport/contract';
import type { Policy } from './policy.ts';

interface Response {
  description: string;
  headers?: Record<string, { description: string; schema: object }>;
  content?: Record<string, { schema?: object }>;
}

interface RequestBody {
  required?: boolean;
  content: Record<string, { schema: { required?: string[] } }>;
}

interface Operation {
  operationId?: string;
  description?: string;
  security?: object[];
  parameters?: { in: string; name: string }[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
}

/** The part of an OpenAPI 3.1 document that is filled in here. */
export interface ApiDocument {
  components?: { schemas?: Record<string, unknown> };
  paths?: Record<string, Record<string, Operation>>;
}

const file = (description: string) => ({ type: 'string', contentMediaType: 'application/x-pem-file', description });

/** Read as a stream of parts, so that no schema of the route describes it. */
const UPLOAD: RequestBody = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['name', 'certificate_file', 'key_file'],
        properties: {
          name: { type: 'string' },
          certificate_file: file('.crt or .pem, at most 1 MiB'),
          key_file: file('.key or .pem, at most 1 MiB'),
        },
      } as { required: string[] },
    },
  },
};

const LIVE_PATH = '/api/v1/logs/live';
const UPLOAD_PATH = '/api/v1/certificates/upload';

const errorResponse = (description: string): Response => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
});

const header = (description: string, type: 'integer' | 'string') => ({ description, schema: { type } });

/** `GET /api/v1/proxy-hosts/{uuid}` → `get_proxy_hosts_uuid`. */
const nameOf = (method: string, path: string): string =>
  `${method}_${path.startsWith('/api/') ? '' : 'root'}${path.replace('/api/v1/', '').replaceAll(/[{}]/g, '').replaceAll(/\W+/g, '_').replace(/^_/, '')}`;

/** What every route of a policy may refuse, whoever wrote it. */
const refusalsOf = (policy: Policy, { parameters = [], requestBody }: Operation): Record<string, Response> => {
  const takesInput = requestBody !== undefined || parameters.length > 0;
  return {
    ...(takesInput ? { 400: errorResponse('A field or parameter is missing or wrong; the message names it.') } : {}),
    ...(policy === 'public'
      ? {}
      : {
          401: errorResponse('No credential, or one that is not valid or has ended.'),
          403: errorResponse('Not allowed for this caller.'),
        }),
    ...(parameters.some((parameter) => parameter.in === 'path')
      ? { 404: errorResponse('There is no such thing.') }
      : {}),
    ...(requestBody ? { 413: errorResponse('The body is larger than allowed.') } : {}),
    default: errorResponse('Any other refusal; 429 and 503 come with Retry-After.'),
  };
};

/** Who needs a credential: `member` and `sensitive` are open to the local host, and to all in mode `open`. */
const securityOf = (policy: Policy): object[] => {
  const needed = [{ bearer: [] }, { session: [] }];
  if (policy === 'public') return [];
  return policy === 'member' || policy === 'sensitive' ? [...needed, {}] : needed;
};

const completeResponses = (operation: Operation): void => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === 'Default Response') response.description = STATUS_CODES[status] ?? 'Answer';
    if (!status.startsWith('2')) continue;
    if (operation.parameters?.some(({ name }) => name === 'per_page')) {
      response.headers = {
        ...response.headers,
        'X-Total-Count': header('Rows there are in all pages.', 'integer'),
        Link: header('Other pages (RFC 8288); with page or per_page only.', 'string'),
      };
    }
    if (operation.requestBody?.content['application/json']) {
      const description = 'Fields of the body that were ignored, because the server assigns them.';
      response.headers = { ...response.headers, 'X-Sallyport-Ignored-Fields': header(description, 'string') };
    }
  }
};

/**
 * Adds to the generated document what route schemas can't say: who may call an operation, how it refuses, and the
 * two that are no JSON. `routePolicies` are lines `METHOD path policy`. Throws for an operation without a policy.
 */
export const completeDocument = <Document extends ApiDocument>(
  document: Document,
  routePolicies: readonly string[],
): Document => {
  const policies = new Map(
    routePolicies.map((line) => {
      const [method = '', path = '', policy] = line.split(' ');
      return [`${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`, policy as Policy];
    }),
  );
  document.components = { ...document.components, schemas: { ...document.components?.schemas, ErrorBody } };
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations)) {
      const policy = policies.get(`${method} ${path}`);
      if (policy === undefined) throw new Error(`no policy is known for ${method} ${path}`);
      operation.operationId = nameOf(method, path);
      operation.security = securityOf(policy);
      if (path === UPLOAD_PATH) operation.requestBody = UPLOAD;
      if (path === LIVE_PATH) operation.responses = { 101: { description: 'Each message is one JSON log entry.' } };
      const body = operation.requestBody;
      // A body that is left out counts as an empty object.
      if (body && Object.values(body.content).every(({ schema }) => !schema.required?.length)) body.required = false;
      completeResponses(operation);
      operation.responses = { ...refusalsOf(policy, operation), ...operation.responses };
    }
  }
  return document;
};
