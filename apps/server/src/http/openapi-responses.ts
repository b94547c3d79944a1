import type { Policy } from './policy.ts';

export interface Response {
  description: string;
  headers?: Record<string, { description: string; schema: object }>;
  content?: Record<string, { schema?: object; example?: unknown }>;
}

const REFUSALS: Readonly<Record<number, { description: string; error: string }>> = {
  400: {
    description: 'A field or parameter is missing, wrong or not known; the message names it.',
    error: 'domain is required',
  },
  401: { description: 'No credential, or one that is not valid or has ended.', error: 'Authentication required' },
  403: { description: 'Not allowed for this caller.', error: 'Admin access required' },
  404: { description: 'There is no such thing.', error: 'Proxy host not found' },
  409: {
    description: 'Something else stands in the way: a name that is taken, an object that is in use.',
    error: 'certificate is in use by one or more proxy hosts',
  },
  410: { description: 'It has expired.', error: 'The invitation has expired' },
  412: {
    description: 'If-Match names another version; `current` is the object as it is now.',
    error: 'The object has changed since: If-Match names another version',
  },
  413: { description: 'The body is larger than allowed.', error: 'The request is larger than allowed' },
  422: {
    description: 'The Idempotency-Key stood for another request within the last 24 hours.',
    error: 'Idempotency-Key was used for another request within the last 24 hours',
  },
  429: { description: 'Too many attempts; Retry-After says when to try again.', error: 'Too many failed attempts' },
  500: { description: 'A fault of the service; `details` names its line in the log.', error: 'Internal error' },
  501: {
    description: 'Not set up on this deployment.',
    error: 'Emergency reset is off: SALLYPORT_EMERGENCY_TOKEN is not set',
  },
  507: {
    description: 'The disk is full; nothing was changed.',
    error: 'The disk is full',
  },
  503: {
    description:
      'The database can not be reached; Retry-After says when to try again. Or what else the answer needs: the message names it.',
    error: 'The database can not be reached',
  },
};

const errorContent = (error: string, code: number) => ({
  'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' }, example: { error, code } },
});

/** Statuses by which single routes refuse, beyond what follows from their form; paths below the API root. */
const ALSO: Readonly<Record<string, readonly number[]>> = {
  'POST /auth/login': [401, 429],
  'POST /auth/change-password': [429],
  'POST /auth/totp/setup': [409, 429],
  'POST /auth/totp/enable': [409, 429],
  'POST /auth/totp/disable': [409, 429],
  'POST /auth/totp/recovery-codes': [409, 429],
  'POST /setup': [403, 429],
  'GET /invite/validate': [404, 409, 410],
  'POST /invite/accept': [404, 409, 410],
  'POST /users': [409],
  'POST /users/invite': [409],
  'PUT /users/{id}': [409],
  'DELETE /users/{id}': [409],
  'POST /security/confirm/{id}': [410],
  'POST /history/{id}/revert': [409],
  'POST /history/batches/{batch}/revert': [409],
  'POST /certificates/preflight': [409],
  'POST /proxy-hosts': [409],
  'PUT /proxy-hosts/{uuid}': [409],
  'POST /proxy-hosts/bulk': [404, 409],
  'POST /proxy-hosts/bulk-delete': [404],
  'DELETE /remote-servers/{uuid}': [409],
  'PUT /certificates/{id}': [409],
  'DELETE /certificates/{id}': [409],
  'POST /certificates/{id}/renew': [409],
  'POST /certificates/{id}/revoke': [409, 429],
  'POST /acme/accounts': [409],
  'PUT /acme/accounts/{id}': [409],
  'DELETE /acme/accounts/{id}': [409],
  'POST /dns-providers': [409],
  'PUT /dns-providers/{id}': [409],
  'DELETE /dns-providers/{id}': [409],
  'POST /dns-providers/{id}/test': [409],
  'GET /certificates/{id}/download': [409],
  'POST /certificates/{id}/download': [409, 429],
  'GET /certificates/internal-ca': [404],
  'GET /certificates/internal-ca/root.pem': [404],
  'GET /certificates/internal-ca/next-root.pem': [404],
  'POST /certificates/internal-ca/next': [404, 409],
  'POST /certificates/internal-ca/drop-next': [404, 409],
  'POST /certificates/internal-ca/take-over': [404, 409],
  'POST /access-lists': [409],
  'PUT /access-lists/{id}': [409],
  'DELETE /access-lists/{id}': [409],
  'POST /backups': [507],
  'POST /backups/upload': [507],
  'POST /backups/{name}/restore': [409, 507],
  'GET /import/preview': [404],
  'POST /import/upload-multi': [409],
  'POST /import/commit': [409, 507],
  'POST /import/verify': [403, 404, 409],
  'POST /apply': [404, 409, 507],
  'DELETE /import/cancel': [404],
  'POST /security/decisions': [409],
  'POST /security/exclusions': [409],
  'POST /security/rulesets/check': [429],
  'DELETE /security/rulesets/{id}': [409],
  'POST /security/enable': [401, 429],
  'POST /security/disable': [401, 429],
  'POST /emergency/security-reset': [401, 403, 429, 501],
  'POST /emergency/drill': [409, 429],
  'GET /security/notifications/settings': [404],
  'POST /security/notifications/test': [404],
};

export interface Form {
  /** E.g. `POST /proxy-hosts`, below the API root. */
  route: string;
  policy: Policy;
  hasPathParameter: boolean;
  hasBody: boolean;
  /** Takes `If-Match`. */
  isVersioned: boolean;
  /** Takes `Idempotency-Key`. */
  isCreating: boolean;
  /** Answers probes and scrapers: whatever they ask. */
  isProbe: boolean;
}

/** Every refusal of a route: what follows from its form, and what only it has. */
export const refusalsOf = (form: Form): Record<string, Response> => {
  const statuses = new Set<number>(ALSO[form.route] ?? []);
  const add = (condition: boolean, ...more: number[]) => {
    if (condition) for (const status of more) statuses.add(status);
  };
  add(!form.isProbe, 400, 503);
  add(true, 500);
  add(form.policy !== 'public', 401, 403);
  add(form.hasPathParameter, 404);
  add(form.hasBody, 413);
  add(form.isVersioned, 412);
  add(form.isCreating, 409, 422);
  const refusals = [...statuses].sort().map((status): [string, Response] => {
    const { description, error } = REFUSALS[status] ?? { description: 'Refused.', error: 'Refused' };
    return [String(status), { description, content: errorContent(error, status) }];
  });
  const others: Response = {
    description: 'What any request may meet before it reaches its route: 405, 408, 414, 417, 431.',
    content: errorContent('Method not allowed; this path takes GET', 405),
  };
  return { ...Object.fromEntries(refusals), ...(form.isProbe ? { '4XX': others } : {}), default: others };
};
