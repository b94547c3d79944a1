import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { type Caller, createGiven, fromOutside, PASSWORD } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

interface Content {
  schema: Schema;
  example?: unknown;
}
interface Operation {
  operationId: string;
  parameters?: { in: string; name: string }[];
  security: object[];
  requestBody?: { required: boolean; content: Record<string, Content> };
  responses: Record<string, { headers?: Record<string, object>; content?: Record<string, Content> }>;
}
interface Schema {
  type?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
}
interface Document {
  components: { schemas: Record<string, Schema>; securitySchemes: object };
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
}

let app: TestApp;
let admin: Caller;
let document: Document;
const validators = new Map<string, ValidateFunction>();

/** One for all schemas, and each of them once: those that have a name are in many bodies, and answers of many routes are alike. */
const ajv = addFormats.default(new Ajv({ strict: false, addUsedSchema: false }));
const DOCUMENT = 'openapi.json';

const validatorOf = (schema: object): ValidateFunction => {
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`);
  const known = validators.get(text);
  if (known) return known;
  const made = ajv.compile(JSON.parse(text) as object);
  validators.set(text, made);
  return made;
};

/** Sends a request, and expects the answer to be one that the document describes; returns it with its status. */
const exchange = async <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
  const answer = await app.send<T>(method, path, body, headers ?? admin.headers);
  const [bare = ''] = path.split('?');
  // A path without parameters before one with: /users/invite is no /users/{id}.
  const found = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .find((pattern) => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(`/api/v1${bare}`));
  const operation = document.paths[found ?? '']?.[method.toLowerCase()];
  const where = `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`;
  if (!operation) throw new Error(`${where} is not in the document`);
  const response = operation.responses[answer.status];
  expect(Object.keys(operation.responses), where).toContain(String(answer.status));
  const [type = '', described] = Object.entries(response?.content ?? {})[0] ?? [];
  if (!described) {
    expect(answer.body, where).toBe('');
    return answer;
  }
  expect(answer.headers.get('content-type') ?? '', where).toContain(type);
  const validate = validatorOf(described.schema);
  expect(validate(answer.body) ? '' : JSON.stringify(validate.errors), where).toBe('');
  return answer;
};

/** Sends a request as the administrator that must succeed as described. */
const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await exchange<T>(method, path, body);
  expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
};

const refused = async (status: number, method: string, path: string, body?: unknown): Promise<void> => {
  expect((await exchange(method, path, body)).status, `${method} ${path}`).toBe(status);
};

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

beforeAll(async () => {
  app = await startApp('sqlite');
  admin = await createGiven(app).administrator();
  document = (await app.send<Document>('GET', '/openapi.json')).body;
  ajv.addSchema({ components: document.components }, DOCUMENT);
});
afterAll(() => app.stop());

test('describes every route, by a name of its own, with how it refuses', () => {
  const described = operations().map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
  const routes = app
    .routePolicies()
    .filter((line) => !/^HEAD|^GET \/ | \/api\/docs|openapi\.json/.test(line))
    .map((line) => line.split(' ').slice(0, 2).join(' '));
  expect(described.sort()).toEqual(routes.sort());
  expect(new Set(operations().map(({ operation }) => operation.operationId)).size).toBe(routes.length);
  for (const { method, path, operation } of operations()) {
    expect(operation.responses, `${method} ${path}`).toHaveProperty('default');
    expect(JSON.stringify(operation), `${method} ${path}`).not.toContain('Default Response');
  }
});

test('names its schemas, and refers to nothing that is not there', () => {
  const names = Object.keys(document.components.schemas);
  for (const name of ['ProxyHost', 'NewProxyHost', 'ProxyHostPatch', 'AccessList', 'CertificateInUse', 'LogEntry']) {
    expect(names).toContain(name);
  }
  expect(names).toContain('WebhookEvent');
  const text = JSON.stringify(document);
  const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  expect(new Set(references)).toEqual(new Set(names));
});

test('has an example of every body and answer, and each is one', () => {
  const all = [...operations(), { method: 'POST', path: 'webhook', operation: document.webhooks.notification?.post }];
  let count = 0;
  for (const { method, path, operation } of all) {
    const contents = [
      ...Object.values(operation?.responses ?? {}).map(({ content }) => content?.['application/json']),
      operation?.requestBody?.content['application/json'],
    ];
    for (const content of contents) {
      if (!content) continue;
      count += 1;
      const where = `${method} ${path} ${JSON.stringify(content.example)}`;
      expect(content.example, where).toBeDefined();
      const validate = validatorOf(content.schema);
      expect(validate(content.example) ? '' : JSON.stringify(validate.errors), where).toBe('');
    }
  }
  expect(count).toBeGreaterThan(300);
});

test('tells the conventions of all resources', () => {
  for (const { method, path, operation } of operations()) {
    const where = `${method} ${path}`;
    const takes = (operation.parameters ?? []).map(({ name }) => name);
    const headersOf = (status: string) => Object.keys(operation.responses[status]?.headers ?? {});
    if (operation.responses[201] && operation.security.length > 0) {
      expect(takes, where).toContain('Idempotency-Key');
      expect(Object.keys(operation.responses), where).toContain('422');
      expect(headersOf('201'), where).toEqual(expect.arrayContaining(['Location', 'ETag']));
    }
    if ((method === 'PUT' || method === 'DELETE') && !path.includes('/auth/')) {
      expect(takes, where).toContain('If-Match');
      expect(Object.keys(operation.responses), where).toContain('412');
    }
    if (takes.includes('per_page')) {
      expect(takes, where).toEqual(expect.arrayContaining(['page', 'sort', 'order', 'search']));
      expect(headersOf('200'), where).toEqual(expect.arrayContaining(['X-Total-Count', 'Link']));
    }
    if (takes.includes('If-None-Match')) {
      expect(headersOf('200'), where).toContain('ETag');
      expect(Object.keys(operation.responses), where).toContain('304');
    }
  }
});

test('every list takes pages, an order and a search', () => {
  const named = (schema: Schema): Schema => document.components.schemas[schema.$ref?.split('/').pop() ?? ''] ?? schema;
  const lists = operations().filter(({ method, path, operation }) => {
    const schema = named(operation.responses[200]?.content?.['application/json']?.schema ?? {});
    // An array, or one in an object under the name that the path ends with: what else holds arrays is one object.
    const rows = schema.type === 'array' ? schema : schema.properties?.[path.split('/').pop() ?? ''];
    return method === 'GET' && rows !== undefined && named(rows).type === 'array';
  });
  expect(lists.length).toBeGreaterThan(25);
  for (const { path, operation } of lists) {
    const takes = (operation.parameters ?? []).map(({ name }) => name);
    expect(takes, path).toEqual(expect.arrayContaining(['page', 'per_page', 'sort', 'order', 'search']));
  }
});

test('says who needs a credential', () => {
  const security = (method: string, path: string) => document.paths[`/api/v1${path}`]?.[method]?.security;
  expect(security('get', '/health')).toEqual([]);
  expect(security('get', '/users')).toEqual([{ bearer: [] }, { session: [] }]);
  expect(security('get', '/proxy-hosts')).toEqual([{ bearer: [] }, { session: [] }, {}]);
});

test('describes the refusals of every route', async () => {
  const nobody = fromOutside();
  for (const { method, path, operation } of operations()) {
    if (!path.startsWith('/api/v1')) continue;
    // The caller's own session has to last.
    if (path.includes('/auth/logout')) continue;
    const target = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '999999999');
    await exchange(method, target, undefined, nobody);
    await exchange(method, target, operation.requestBody?.content['application/json'] ? {} : undefined);
    if (operation.requestBody) await exchange(method, target, '{"a":', { ...admin.headers });
  }
});

test('describes what succeeds', async () => {
  const machine = await send<{ uuid: string }>('POST', '/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 });
  await send('PUT', `/remote-servers/${machine.uuid}`, { name: 'n' });
  await send('POST', `/remote-servers/${machine.uuid}/test`);
  // Nobody answers there, which is an answer.
  await send('POST', '/settings', { key: 'acme.dns_resolvers', value: '127.0.0.1:9' });
  const hook = { name: 'd', type: 'webhook', fields: { url: 'http://127.0.0.1:9/', bearer_token: 'secret' } };
  const dns = await send<{ id: number }>('POST', '/dns-providers', hook);
  await send('PUT', `/dns-providers/${dns.id}`, { name: 'e' });
  await send('GET', `/dns-providers/${dns.id}`);
  await send('POST', `/dns-providers/${dns.id}/test`, { zone: 'example.com' });
  const list = { name: 'l', type: 'allow', rules: [{ cidr: '10.0.0.0/8', description: 'office' }] };
  const access = await send<{ id: number }>('POST', '/access-lists', list);
  await send('PUT', `/access-lists/${access.id}`, { ...list, name: 'm' });
  await send('POST', `/access-lists/${access.id}/test`, { ip: '10.1.1.1' });
  await send('POST', '/access-lists/test', { type: 'allow', rules: list.rules });
  const form = uploadForm('site', makeCertificate(['site.example.com']));
  const { id } = await send<{ id: number }>('POST', '/certificates/upload', form);
  await send('PUT', `/certificates/${id}`, uploadForm('other', makeCertificate(['site.example.com'])));
  await send('GET', `/certificates/${id}/download`);
  await send('POST', `/certificates/${id}/download`, { password: PASSWORD });
  await refused(403, 'POST', `/certificates/${id}/download`, { password: 'wrong password' });
  const host = { domain: 'site.example.com', forward_host: '127.0.0.1', forward_port: 9, certificate_id: id };
  const { uuid } = await send<{ uuid: string }>('POST', '/proxy-hosts', { ...host, access_list_id: access.id });
  await send('PUT', `/proxy-hosts/${uuid}`, { enabled: false });
  await refused(409, 'POST', '/proxy-hosts', host);
  await refused(409, 'DELETE', `/certificates/${id}`);
  await send('POST', '/proxy-hosts/test-origin', { forward_host: '127.0.0.1', forward_port: 9 });
  await send('POST', '/proxy-hosts/bulk', { uuids: [uuid], patch: { enabled: true } });

  await send('POST', '/security/config', { name: 'main', admin_whitelist: '127.0.0.1', waf_mode: 'monitor' });
  await send('POST', '/security/enable', {});
  const ban = { ip: '198.51.100.9', action: 'block', details: 'test', duration: '1h' };
  const { decision } = await send<{ decision: { id: number } }>('POST', '/security/decisions', ban);
  const rules = { name: 'r', content: 'SecRule ARGS "@contains evil" "id:100001,phase:2,deny"', mode: 'custom' };
  const { ruleset } = await send<{ ruleset: { id: number } }>('POST', '/security/rulesets', rules);
  await send('POST', '/security/rulesets/check', { content: 'SecRule ARGS "@rx ("', mode: 'custom' });
  const { token } = await send<{ token: string }>('POST', '/security/breakglass/generate');
  await send('PUT', '/security/notifications/settings', { enabled: false, min_log_level: 'warn' });
  const user = { email: 'u@example.com', password: 'a long password', name: 'U' };
  const { id: userId } = await send<{ id: number }>('POST', '/users', user);
  await send('PUT', `/users/${userId}`, { name: 'V' });
  await send('POST', '/auth/login', { email: user.email, password: user.password });
  await refused(401, 'POST', '/auth/login', { email: user.email, password: 'wrong password' });
  const invite = await send<{ user: { id: number }; invite_url: string }>('POST', '/users/invite', {
    email: 'i@x.org',
  });
  const inviteToken = new URL(invite.invite_url).searchParams.get('token') ?? '';
  await send('GET', `/invite/validate?token=${inviteToken}`);
  await send('POST', `/users/${invite.user.id}/resend-invite`);
  await send('POST', '/users/preview-invite-url', { email: 'p@example.com' });
  const apiToken = await send<{ id: number }>('POST', '/tokens', { name: 't' });
  await send('POST', '/settings', { key: 'app.public_url', value: 'https://p.example.com/' });
  await send('GET', '/settings/app.public_url');
  await send('POST', '/settings/validate-url', { url: 'http://p.example.com/' });
  await refused(403, 'POST', '/settings/test-url', { url: 'http://127.0.0.1/' });
  await send('POST', '/settings/test-mail', {});
  const backup = await send<{ name: string }>('POST', '/backups', {});
  await send('GET', `/backups/${backup.name}`);
  await send('GET', `/backups/${backup.name}/download`);
  await send('POST', `/backups/${backup.name}/verify`, {});
  await send('POST', '/backups/copies/test');
  await send('DELETE', `/backups/${backup.name}`);

  for (const { method, path } of operations()) {
    if (method === 'GET' && path.startsWith('/api/v1') && !path.includes('{')) await exchange('GET', path.slice(7));
  }
  await send('GET', '/proxy-hosts?page=1&per_page=1');
  await send('GET', `/proxy-hosts/${uuid}`);
  await send('POST', '/security/disable', { break_glass_token: token });
  await send('DELETE', `/proxy-hosts/${uuid}`);
  await send('DELETE', `/certificates/${id}`);
  await send('DELETE', `/access-lists/${access.id}`);
  await send('DELETE', `/remote-servers/${machine.uuid}`);
  await send('DELETE', `/dns-providers/${dns.id}`);
  await send('DELETE', `/security/decisions/${decision.id}`);
  await send('DELETE', `/security/rulesets/${ruleset.id}`);
  await send('DELETE', `/users/${userId}`);
  await send('DELETE', `/tokens/${apiToken.id}`);
  await send('DELETE', '/settings/app.public_url');
});

test('has a page to read it that asks no other host for anything', async () => {
  const get = async (path: string) => {
    const answer = await fetch(`${app.url}/api/docs${path}`);
    expect(answer.status, path).toBe(200);
    return answer.text();
  };
  const page = await get('');
  const sources = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, source = '']) => source);
  expect(sources.length).toBeGreaterThan(3);
  for (const source of sources) {
    expect(source).toMatch(/^\/api\/docs\/static\//);
    await get(source.replace('/api/docs', ''));
  }
  // What the page's policy allows: no script in the page itself.
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/);
  expect(await get('/static/swagger-initializer.js')).toContain('"validatorUrl":null');
});
