import { entityTag, versionOf } from '@sallyport/store/object-version';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerErrorMapping } from './error-mapping.ts';
import { created, ifMatch, registerVersions, tagged } from './versions.ts';

const OBJECT = {
  id: 1,
  uuid: 'u',
  name: 'a',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
};
const TAG = entityTag(OBJECT);
const VERSION = versionOf(OBJECT);

const app = Fastify();
let changed = 0;
beforeAll(async () => {
  registerErrorMapping(app, { answerPage: () => false });
  registerVersions(app);
  app.get('/thing', async (_request, reply) => tagged(reply, OBJECT));
  app.get('/other', async (_request, reply) => reply.code(201).send(tagged(reply, OBJECT)));
  app.get('/untagged', async () => OBJECT);
  app.post('/thing', async (_request, reply) => created(reply, 'things/u', OBJECT));
  app.put('/thing', async (request) => {
    ifMatch(request)(OBJECT);
    changed += 1;
    return OBJECT;
  });
  await app.ready();
});
afterAll(() => app.close());

const put = (tag: string) => app.inject({ method: 'PUT', url: '/thing', headers: { 'if-match': tag } });

test.each([TAG, '*', ' * ', `"other", ${TAG}`, `"${VERSION}"`, `"${VERSION}.another-state"`])(
  'If-Match: %s lets this version be changed',
  async (tag) => {
    changed = 0;
    expect((await put(tag)).statusCode).toBe(200);
    expect(changed).toBe(1);
  },
);

test.each(['"other"', `W/${TAG}`, '""', `"x${VERSION}"`, '"a", "b"'])(
  'If-Match: %s refuses it, and shows what there is',
  async (tag) => {
    changed = 0;
    const answer = await put(tag);
    expect(answer.statusCode).toBe(412);
    expect(answer.headers.etag).toBe(TAG);
    expect(answer.json()).toMatchObject({ code: 412, current: { name: 'a' } });
    expect(changed).toBe(0);
  },
);

test.each([VERSION, '', 'W/', `${TAG} "b"x`, `x${TAG}`, "'a'", `${TAG};`])('If-Match: %s says nothing', async (tag) => {
  changed = 0;
  expect((await put(tag)).statusCode).toBe(400);
  expect(changed).toBe(0);
});

test('without If-Match a change is one', async () => {
  expect((await app.inject({ method: 'PUT', url: '/thing' })).statusCode).toBe(200);
});

test('who has it already gets no body; anybody else gets all of it', async () => {
  const get = (url: string, tag: string, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url, headers: { 'if-none-match': tag } });
  for (const tag of [TAG, '*', `W/${TAG}`, `"x", ${TAG}`]) {
    const answer = await get('/thing', tag);
    expect([answer.statusCode, answer.body, answer.headers.etag], tag).toEqual([304, '', TAG]);
    expect(answer.headers['content-type']).toBeUndefined();
  }
  const head = await get('/thing', TAG, 'HEAD');
  expect([head.statusCode, head.body, head.headers.etag]).toEqual([304, '', TAG]);
  expect((await app.inject('/thing')).json()).toEqual(OBJECT);
  const other = await get('/thing', '"x"');
  expect([other.statusCode, other.json()]).toEqual([200, OBJECT]);
  // What is no answer to keep, what has no tag, and what makes something.
  expect((await get('/other', TAG)).statusCode).toBe(201);
  expect((await get('/untagged', '*')).json()).toEqual(OBJECT);
  const made = await app.inject({ method: 'POST', url: '/thing', headers: { 'if-none-match': TAG } });
  expect([made.statusCode, made.headers.location, made.headers.etag]).toEqual([201, '/api/v1/things/u', TAG]);
});
