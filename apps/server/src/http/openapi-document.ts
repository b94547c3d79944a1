import { ErrorBody, LogEntry, NotificationEvent } from '@sallyport/contract';
import { BATCH_HEADER, isChanging } from './batch.ts';
import { CONFIRM_HEADER, REVERTS_AT_HEADER } from './confirm.ts';
import { createComponents } from './openapi-components.ts';
import { createExamples } from './openapi-examples.ts';
import { type Response, refusalsOf } from './openapi-responses.ts';
import type { Policy } from './policy.ts';

// Not an import, which would load a second HTTP client (docs/decisions/0009-memory-at-rest.md).
const { STATUS_CODES } = process.getBuiltinModule('node:http');

interface RequestBody {
  required?: boolean;
  content: Record<string, { schema: { required?: string[] }; example?: unknown }>;
}

interface Operation {
  operationId?: string;
  description?: string;
  security?: object[];
  parameters?: { in: string; name: string; description?: string; schema?: object }[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
}

/** The part of an OpenAPI 3.1 document that is filled in here. */
export interface ApiDocument {
  components?: { schemas?: Record<string, unknown> };
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation & { summary: string } }>;
}

const file = (description: string, contentMediaType = 'application/x-pem-file') => ({
  type: 'string',
  contentMediaType,
  description,
});

const form = (required: string[], properties: Record<string, object>, more: object = {}): RequestBody => ({
  required: true,
  content: {
    'multipart/form-data': { schema: { type: 'object', required, properties, ...more } as { required: string[] } },
  },
});

/** Files are given by what they are called. */
const withExample = (body: RequestBody, example: Record<string, string>): RequestBody => ({
  ...body,
  content: { 'multipart/form-data': { schema: {}, ...body.content['multipart/form-data'], example } },
});

const PKCS12_TYPE = 'application/x-pkcs12';
const CERTIFICATE_FIELDS = {
  certificate_file: file('The certificate with its chain: .crt or .pem, at most 1 MiB'),
  key_file: file('Its private key: .key or .pem, at most 1 MiB'),
  pkcs12_file: file('In place of both: .pfx or .p12, at most 1 MiB', PKCS12_TYPE),
  pkcs12_password: { type: 'string', description: 'Of pkcs12_file; default: none. It is not kept.' },
};
const PKCS12_EXAMPLE = { pkcs12_file: 'example.pfx', pkcs12_password: 'the password it was exported with' };

/** Read as a stream of parts, so that no schema of the route describes it. */
const UPLOADS: Readonly<Record<string, RequestBody>> = {
  'post /api/v1/certificates/upload': withExample(
    form(
      ['name'],
      { name: { type: 'string' }, ...CERTIFICATE_FIELDS },
      { oneOf: [{ required: ['certificate_file', 'key_file'] }, { required: ['pkcs12_file'] }] },
    ),
    { name: 'example', ...PKCS12_EXAMPLE },
  ),
  'put /api/v1/certificates/{id}': withExample(
    form([], { name: { type: 'string', description: 'Alone: it is only called otherwise.' }, ...CERTIFICATE_FIELDS }),
    PKCS12_EXAMPLE,
  ),
  'post /api/v1/certificates/import': withExample(
    form(['file'], {
      file: {
        type: 'array',
        items: file('PEM, PKCS #12 or acme.json, at most 1 MiB', 'application/octet-stream'),
        description: 'Once for each file, at most 1,000 of them and 20 MiB together.',
      },
      pkcs12_password: {
        type: 'array',
        items: { type: 'string' },
        description: 'Once for each password of PKCS #12 files, at most 10. They are not kept.',
      },
    }),
    { file: 'example.pfx', pkcs12_password: PKCS12_EXAMPLE.pkcs12_password },
  ),
  'post /api/v1/backups/upload': form(['file'], {
    file: file('As it was downloaded, at most 1 GiB', 'application/octet-stream'),
    passphrase: { type: 'string', description: 'Of an encrypted backup: with it the whole of it is verified.' },
  }),
};

const LIVE_PATH = '/api/v1/logs/live';

const header = (description: string, type: 'integer' | 'string') => ({ description, schema: { type } });

/** `GET /api/v1/proxy-hosts/{uuid}` → `get_proxy_hosts_uuid`. */
const nameOf = (method: string, path: string): string =>
  `${method}_${path.startsWith('/api/') ? '' : 'root'}${path.replace('/api/v1/', '').replaceAll(/[{}]/g, '').replaceAll(/\W+/g, '_').replace(/^_/, '')}`;

/** GET of one object by an id is a version of it, and so are these. */
const SINGLE = new Set([
  '/security/config',
  '/security/notifications/settings',
  '/admin/crowdsec/console',
  '/import/cancel',
]);
/** Answers of these are not what is stored. */
const UNVERSIONED = new Set(['/auth/sessions/{id}', '/security/blocks/{reference}', '/backups/{name}/download']);
/** A list of an object's changes is a list. */
const isHistory = (path: string): boolean => path.endsWith('/history');
/** POSTs that change an object there may be already. */
const UPSERTS = new Set(['/security/config', '/security/rulesets', '/settings']);

/** What the conventions of all resources make of a route. */
const traitsOf = (method: string, path: string, { parameters = [], responses }: Operation, policy: Policy) => {
  const below = path.replace('/api/v1', '');
  const hasPathParameter = parameters.some((parameter) => parameter.in === 'path');
  const isObject = (hasPathParameter || SINGLE.has(below)) && !UNVERSIONED.has(below) && !isHistory(below);
  const changes = method === 'put' || method === 'delete';
  return {
    route: `${method.toUpperCase()} ${below}`,
    hasPathParameter,
    isRead: method === 'get' && isObject,
    isVersioned: (changes && isObject) || (method === 'post' && UPSERTS.has(below)),
    isCreating: method === 'post' && policy !== 'public' && (responses[201] ?? responses[202]) !== undefined,
    isProbe: below === '/health' || below === '/metrics',
  };
};
type Traits = ReturnType<typeof traitsOf>;

const headerParameter = (name: string, description: string) => ({
  in: 'header',
  name,
  description,
  schema: { type: 'string' },
});

const addConventions = (operation: Operation, { isRead, isVersioned, isCreating }: Traits): void => {
  const more = [
    ...(isRead ? [headerParameter('If-None-Match', 'ETag of an earlier answer: 304 when it is still the same.')] : []),
    ...(isVersioned
      ? [headerParameter('If-Match', 'ETag of the version to change; another one is refused (412).')]
      : []),
    ...(isCreating
      ? [headerParameter('Idempotency-Key', 'The same request with the same key gets the same answer for 24 hours.')]
      : []),
  ];
  if (more.length > 0) operation.parameters = [...(operation.parameters ?? []), ...more];
  const etag = { ETag: header('Version of the object.', 'string') };
  const [success = ''] = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
  const answer = operation.responses[success];
  if (!answer) return;
  if (isRead || isVersioned || isCreating)
    answer.headers = { ...answer.headers, ...(success === '204' || success === '202' ? {} : etag) };
  if (isRead) operation.responses[304] = { description: 'Nothing has changed.', headers: etag };
  if (success !== '201' && success !== '202') return;
  answer.headers = { ...answer.headers, Location: header('Where the new object is.', 'string') };
  if (!isCreating) return;
  const replayed = 'true: this is the answer of an earlier request with this Idempotency-Key.';
  answer.headers = { ...answer.headers, 'Idempotency-Replayed': header(replayed, 'string') };
};

const LIVE: Record<string, Response> = {
  101: {
    description: 'Each message is one JSON log entry.',
    content: { 'application/json': { schema: LogEntry } },
  },
};

const WEBHOOK: Operation & { summary: string } = {
  operationId: 'notification',
  summary: 'A security event that the notification settings let through',
  description:
    'Sent to webhook_url (https) within moments of the event, at most three times. Formats other than generic differ.',
  security: [],
  parameters: [headerParameter('X-Sallyport-Signature', 'sha256=<HMAC of the body>, when webhook_secret is set.')],
  requestBody: { required: true, content: { 'application/json': { schema: NotificationEvent } } },
  responses: {
    '2XX': { description: 'Taken.' },
    default: { description: 'Not taken: after 5xx, 408 and 429 it is tried again.' },
  },
};

/** Who needs a credential: `member` and `sensitive` are open to the local host, and to all in mode `open`. */
const securityOf = (policy: Policy): object[] => {
  const needed = [{ bearer: [] }, { session: [] }];
  if (policy === 'public') return [];
  return policy === 'member' || policy === 'sensitive' ? [...needed, {}] : needed;
};

const completeResponses = (operation: Operation, canBeTakenBack: boolean): void => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === 'Default Response') response.description = STATUS_CODES[status] ?? 'Answer';
    if (!status.startsWith('2')) continue;
    if (canBeTakenBack) {
      const description = 'What this request changed in the history, if anything: POST /history/batches/:batch/revert.';
      response.headers = { ...response.headers, [BATCH_HEADER]: header(description, 'string') };
    }
    if (operation.parameters?.some(({ name }) => name === 'per_page')) {
      response.headers = {
        ...response.headers,
        'X-Total-Count': header('Rows there are in all pages.', 'integer'),
        Link: header('First, last, previous and next page (RFC 8288).', 'string'),
      };
    }
    if (operation.parameters?.some(({ name }) => name === 'confirm_within')) {
      response.headers = {
        ...response.headers,
        [CONFIRM_HEADER]: header('With confirm_within: the id for POST /security/confirm/:id.', 'string'),
        [REVERTS_AT_HEADER]: header('With confirm_within: when the change goes back unless it is confirmed.', 'string'),
      };
    }
    if (operation.requestBody?.content['application/json']) {
      const description = 'Fields of the body that were ignored, because the server assigns them.';
      response.headers = { ...response.headers, 'X-Sallyport-Ignored-Fields': header(description, 'string') };
    }
  }
};

/** Gives every JSON body and answer an example that has none of its own. */
const addExamples = (document: ApiDocument, { answer, body }: ReturnType<typeof createExamples>): void => {
  const operations = [...Object.values(document.paths ?? {}), ...Object.values(document.webhooks ?? {})];
  for (const operation of operations.flatMap((path) => Object.values(path) as Operation[])) {
    for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
      if (type === 'application/json') content.example ??= body(content.schema);
    }
    for (const { content = {} } of Object.values(operation.responses)) {
      const json = content['application/json'];
      if (json?.schema) json.example ??= answer(json.schema);
    }
  }
};

/**
 * Adds to the generated document what route schemas can't say: who may call an operation, how it refuses, the
 * conventions of all resources, names for the schemas, examples, webhooks, and the two that are no JSON. `routePolicies` are lines `METHOD path policy`. Throws for an operation without a policy.
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
  const components = createComponents();
  components.refer(ErrorBody);
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations)) {
      const policy = policies.get(`${method} ${path}`);
      if (policy === undefined) throw new Error(`no policy is known for ${method} ${path}`);
      operation.operationId = nameOf(method, path);
      operation.security = securityOf(policy);
      const upload = UPLOADS[`${method} ${path}`];
      if (upload) operation.requestBody = upload;
      if (path === LIVE_PATH) operation.responses = { ...LIVE };
      const body = operation.requestBody;
      // A body that is left out counts as an empty object, but for PUT.
      if (body && method !== 'put' && Object.values(body.content).every(({ schema }) => !schema.required?.length))
        body.required = false;
      completeResponses(operation, isChanging(method) && policy !== 'public');
      const traits = traitsOf(method, path, operation, policy);
      addConventions(operation, traits);
      operation.responses = {
        ...refusalsOf({ ...traits, policy, hasBody: body !== undefined }),
        ...operation.responses,
      };
    }
  }
  document.paths = components.refer(document.paths) as NonNullable<Document['paths']>;
  document.webhooks = components.refer({ notification: { post: WEBHOOK } }) as NonNullable<Document['webhooks']>;
  document.components = { ...document.components, schemas: components.schemas };
  addExamples(document, createExamples(components.schemas));
  return document;
};
