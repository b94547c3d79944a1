import multipart from '@fastify/multipart';
import { REFUSAL, REFUSED_FIELDS, SERVER_ASSIGNED } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerBodyParser } from './body-parser.ts';
import { answerUnroutable, registerErrorMapping } from './error-mapping.ts';
import { registerPolicy } from './policy.ts';
import { registerValidation } from './validation.ts';

const Inner = Type.Object(
  { port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })) },
  { [SERVER_ASSIGNED]: ['seen'] },
);
const Body = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 5 }),
    kind: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['a', 'b'] })),
    count: Type.Optional(Type.Integer({ minimum: 3 })),
    list: Type.Optional(Type.Array(Inner, { minItems: 1, maxItems: 2 })),
    inner: Type.Optional(Inner),
    long: Type.Optional(Type.String({ minLength: 3 })),
    mail: Type.Optional(Type.String({ format: 'email' })),
    maybe: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    pair: Type.Optional(Type.Object({ a: Type.String() })),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    odd: Type.Optional(Type.String({ pattern: '^x$', [REFUSAL]: 'odd must be x' })),
  },
  { [SERVER_ASSIGNED]: ['id'], [REFUSED_FIELDS]: { secret: 'is set elsewhere' } },
);

const app = Fastify({ frameworkErrors: answerUnroutable, routerOptions: { maxParamLength: 20 } });
beforeAll(async () => {
  registerErrorMapping(app, { answerPage: () => false });
  registerPolicy(app, { identify: async () => ({ kind: 'anonymous' }), clientAddress: () => '', isOpen: false });
  registerBodyParser(app);
  await app.register(multipart, { throwFileSizeLimit: false });
  registerValidation(app);
  const config = { policy: 'public' } as const;
  const querystring = Type.Object({
    page: Type.Optional(Type.Integer({ minimum: 1 })),
    all: Type.Optional(Type.Boolean()),
  });
  const echo = async ({ body, query }: { body: unknown; query: unknown }) => ({ body: body ?? null, query });
  app.post('/body', { config, schema: { body: Body } }, echo);
  app.put('/body', { config, schema: { body: Type.Partial(Body) } }, echo);
  app.post('/none', { config }, echo);
  app.get('/things/:id/parts', { config }, echo);
  app.get('/query', { config, schema: { querystring } }, echo);
  app.get('/probe', { config: { ...config, ignoresQuery: true } }, echo);
  await app.ready();
});
afterAll(() => app.close());

const send = async (
  method: 'POST' | 'PUT',
  url: string,
  payload: string | Buffer | undefined,
  headers: object = {},
) => {
  const answer = await app.inject({
    method,
    url,
    headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, body: answer.json(), ignored: answer.headers['x-sallyport-ignored-fields'] };
};
const post = (value: object) => send('POST', '/body', JSON.stringify(value));

test.each<[object, string]>([
  [{}, 'name is required'],
  [{ name: '' }, 'name is required'],
  [{ name: 7 }, 'name must be a string'],
  [{ name: 'abcdef' }, 'name must be at most 5 characters long'],
  [{ name: 'a', long: 'ab' }, 'long must be at least 3 characters long'],
  [{ name: 'a', kind: 'c' }, 'kind must be one of: a, b'],
  [{ name: 'a', count: '3' }, 'count must be an integer'],
  [{ name: 'a', count: 2 }, 'count must be >= 3'],
  [{ name: 'a', inner: { port: 0 } }, 'inner.port must be between 1 and 65535'],
  [{ name: 'a', list: [{}, { port: 70_000 }] }, 'list[1].port must be between 1 and 65535'],
  [{ name: 'a', list: [] }, 'list must have at least 1 entry'],
  [{ name: 'a', list: [{}, {}, {}] }, 'list must have at most 2 entries'],
  [{ name: 'a', mail: 'x' }, 'mail must be a valid email'],
  [{ name: 'a', maybe: 'x' }, 'maybe must be an integer or null'],
  [{ name: 'a', pair: {} }, 'pair.a is required'],
  [{ name: 'a', labels: { any: 1 } }, 'labels.any must be a string'],
  [{ name: 'a', odd: 'y' }, 'odd must be x'],
  [{ name: 'a', secret: 1 }, 'secret is set elsewhere'],
  [{ name: 'a', nmae: 1 }, 'nmae is not a known field; did you mean name?'],
  [{ name: 'a', inner: { prot: 1 } }, 'inner.prot is not a known field; did you mean inner.port?'],
  [{ name: 'a', list: [{ prot: 1 }] }, 'list[0].prot is not a known field; did you mean list[0].port?'],
  [{ name: 'a\0' }, 'name must not contain NUL characters'],
  [{ name: 'a', list: [{}, { b: 'c\0' }] }, 'list.1.b must not contain NUL characters'],
  [{ name: 'a', list: [{}, { 'b\0': 1 }] }, 'list.1 must not contain NUL characters'],
])('%j: %s', async (value, error) => {
  expect(await post(value)).toMatchObject({ status: 400, body: { code: 400, error } });
});

test('takes what is right; what the server assigns is left out, and told', async () => {
  const value = {
    name: 'abcde',
    kind: 'b',
    count: 3,
    list: [{ port: 65_535 }],
    maybe: null,
    odd: 'x',
    labels: { any: 'y' },
  };
  expect(await post(value)).toMatchObject({ status: 200, body: { body: value }, ignored: undefined });
  const { body, ignored } = await post({ ...value, id: 7, inner: { seen: 1 }, list: [{ port: 1, seen: 1 }] });
  expect(body.body).toEqual({ ...value, inner: {}, list: [{ port: 1 }] });
  expect(ignored).toBe('list[0].seen, id, inner.seen');
});

test.each([
  ['null', 'body must be a JSON object'],
  ['[]', 'body must be a JSON object'],
  ['"x"', 'body must be a JSON object'],
  ['{', 'body must be valid JSON'],
  ['{"name":"a","name":"b"}', 'body has the field "name" twice in one object'],
  ['{"name":"a","__proto__":{}}', 'body must be valid JSON'],
  ['{"name":"a","constructor":{"prototype":{}}}', 'body must be valid JSON'],
  [`{"name":${'['.repeat(65)}${']'.repeat(65)}}`, 'body is nested too deeply'],
])('the body %s is none', async (payload, error) => {
  expect(await send('POST', '/body', payload)).toMatchObject({ status: 400, body: { error } });
});

test('a body is UTF-8, not packed, and JSON by its type', async () => {
  const right = '{"name":"ü"}';
  expect(await send('POST', '/body', Buffer.from(right, 'latin1'))).toMatchObject({
    status: 400,
    body: { error: 'body must be UTF-8' },
  });
  expect((await send('POST', '/body', right, { 'content-encoding': 'identity' })).status).toBe(200);
  for (const encoding of ['gzip', 'br', '']) {
    expect(await send('POST', '/body', right, { 'content-encoding': encoding }), encoding).toMatchObject({
      status: 400,
      body: { error: 'Content-Encoding is not supported' },
    });
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])
    expect((await send('POST', '/body', right, { 'content-type': type })).body, type).toMatchObject({
      error: 'Content-Type must be application/json',
    });
});

test('without a body a change is none, and a missing field is what is named', async () => {
  expect((await send('PUT', '/body', undefined)).body).toMatchObject({ error: 'body is required' });
  expect((await send('PUT', '/body', '')).body).toMatchObject({ error: 'body is required' });
  expect((await send('PUT', '/body', '{}')).status).toBe(200);
  expect((await send('POST', '/body', undefined)).body).toMatchObject({ error: 'name is required' });
  // Whoever sends one where none is taken means something by it.
  expect((await send('POST', '/none', '{"a":1}')).body).toMatchObject({ error: 'a is not a known field' });
  for (const none of [undefined, '', '{}']) expect((await send('POST', '/none', none)).status).toBe(200);
});

test('a query is read by its schema, and nothing else is in it', async () => {
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject(url);
    return { status: statusCode, ...(JSON.parse(body) as { error?: string; query?: object }) };
  };
  expect(await get('/query?page=2&all=true')).toMatchObject({ status: 200, query: { page: 2, all: true } });
  expect(await get('/query?page=x')).toMatchObject({ status: 400, error: 'page must be an integer' });
  expect(await get('/query?page=0')).toMatchObject({ status: 400, error: 'page must be >= 1' });
  expect(await get('/query?pgae=1')).toMatchObject({ error: 'pgae is not a known parameter; did you mean page?' });
  expect(await get('/probe?any=thing')).toMatchObject({ status: 200 });
  for (const path of ['/query', '/probe'])
    expect(await get(`${path}?page=%00`)).toMatchObject({ error: 'page must not contain NUL characters' });
});

test('what no route takes is said by its path and method', async () => {
  const answer = async (method: 'GET' | 'DELETE', url: string) => (await app.inject({ method, url })).json();
  expect(await answer('GET', '/nowhere')).toEqual({ code: 404, error: 'Not found' });
  expect(await answer('DELETE', '/body')).toEqual({
    code: 405,
    error: 'Method not allowed; this path takes POST, PUT',
  });
  expect(await answer('DELETE', '/things/7/parts')).toMatchObject({ code: 405 });
  expect(await answer('DELETE', '/things/7/8/parts')).toMatchObject({ code: 404 });
  expect(await answer('DELETE', '/things//parts')).toMatchObject({ code: 404 });
  expect(await answer('GET', '/things/%zz/parts')).toEqual({
    code: 400,
    error: 'The path has a percent sign that encodes nothing',
  });
  expect(await answer('GET', `/things/${'7'.repeat(21)}/parts`)).toMatchObject({ code: 414 });
  expect((await app.inject({ method: 'DELETE', url: '/body' })).headers.allow).toBe('POST, PUT');
});
