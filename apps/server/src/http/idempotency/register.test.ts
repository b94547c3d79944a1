import type { Identity, UserIdentity } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { createVault } from '@sallyport/store/secrets/vault';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { withStore } from '../../testing/with-store.ts';
import { registerErrorMapping } from '../error-mapping.ts';
import { type Policy, registerPolicy } from '../policy.ts';
import { registerIdempotency } from './register.ts';
import { createIdempotency } from './service.ts';
import { idempotencyStore } from './store.ts';

const user = (id: number, token: UserIdentity['token'] = null): UserIdentity => ({
  ...{ kind: 'user', id, email: 'a@example.com', role: 'admin', token, mustEnrolTotp: false },
  sessionId: token ? null : 's',
});

/** What tells about something that was made. */
const KEPT = {
  ...{ location: '/x/1', etag: '"1"', 'x-sallyport-batch': 'b' },
  ...{ 'x-sallyport-confirm': 'c', 'x-sallyport-reverts-at': '2026-05-02T12:00:10.000Z' },
};

/** Routes that make something, or do not; who asks and from where is what the test says. */
const given = (
  work: (it: {
    caller: { identity: Identity; address: string; isKept: boolean };
    /** Keys that routes were asked with, as far as they make anything for one. */
    made: (string | undefined)[];
    post: (path: string, key: string | string[] | undefined, payload?: object) => Promise<Record<string, unknown>>;
  }) => Promise<void>,
) =>
  withStore(async ({ kysely: db }) => {
    const caller = { identity: user(1) as Identity, address: '192.0.2.1', isKept: true };
    const made: (string | undefined)[] = [];
    const kept = createIdempotency({
      ...{ db, store: idempotencyStore, vault: createVault('k'.repeat(32)), clock: () => new Date() },
    });
    const app = Fastify();
    registerErrorMapping(app, { answerPage: () => false });
    registerPolicy(app, {
      identify: async () => caller.identity,
      clientAddress: () => caller.address,
      isOpen: true,
    });
    registerIdempotency(app, async (id, request) => {
      const begun = await kept.begin(id, request);
      if ('again' in begun) return begun;
      const finish: typeof begun.finish = async (answer) => {
        await begun.finish(answer);
        if (!caller.isKept) throw new Error('the disk is full');
      };
      return { finish };
    });
    const route = (method: 'POST' | 'PUT', path: string, answers: number[], policy: Policy = 'member') => {
      const response = Object.fromEntries(answers.map((status) => [status, {}]));
      app.route({
        ...{ method, url: path, config: { policy }, schema: { response } },
        // One of the route's own, before the key is looked at.
        preHandler: async (request) => void Object.assign(request, { isSeen: true }),
        onSend: async (_request, reply, payload) => {
          reply.header('x-own', 'yes');
          return payload;
        },
        async handler(request, reply) {
          made.push(request.actor.idempotencyId);
          const { refused, stream, status = answers[0] } = (request.body ?? {}) as Record<string, number>;
          if (refused) throw refuse.conflict('It is there already');
          reply.code(status ?? 200).headers({ ...KEPT, 'x-other': 'o' });
          return reply.send(
            stream ? Buffer.from('bytes') : { count: made.length, isSeen: Object.hasOwn(request, 'isSeen') },
          );
        },
      });
    };
    route('POST', '/things', [201]);
    route('POST', '/things/:id', [200]);
    route('POST', '/jobs', [202]);
    route('POST', '/either', [200, 201]);
    route('PUT', '/things', [201]);
    route('POST', '/setup', [201], 'public');
    app.post('/plain', { config: { policy: 'member' } }, async ({ actor }) => void made.push(actor.idempotencyId));
    const post = async (path: string, key: string | string[] | undefined, payload: object = {}) => {
      const [method = '', url = ''] = path.split(' ');
      const headers = { 'x-own': '', ...(key === undefined ? {} : { 'idempotency-key': key }) };
      const answer = await app.inject({ method: method as 'POST', url, headers: headers as never, payload });
      const { 'content-type': type, 'idempotency-replayed': replayed, 'x-own': own, 'x-other': other } = answer.headers;
      const told = Object.fromEntries(Object.keys(KEPT).map((name) => [name, answer.headers[name]]));
      const body = String(type).includes('json') ? answer.json() : answer.body;
      return { ...{ status: answer.statusCode, body }, ...{ type, replayed, own, other, told } };
    };
    await work({ caller, made, post });
  });

test('what was made is answered again, with what tells about it', () =>
  given(async ({ made, post }) => {
    const first = await post('POST /things', 'key');
    expect(first).toMatchObject({ status: 201, body: { count: 1, isSeen: true }, own: 'yes', replayed: undefined });
    expect(first).toMatchObject({ told: KEPT, other: 'o' });
    expect(await post('POST /things', 'key')).toEqual({ ...first, replayed: 'true', other: undefined });
    expect(await post('POST /things', 'other key')).toMatchObject({ body: { count: 2 }, replayed: undefined });
    expect(await post('POST /jobs', 'a job')).toMatchObject({ status: 202, body: { count: 3 } });
    expect(await post('POST /jobs', 'a job')).toMatchObject({ status: 202, body: { count: 3 }, replayed: 'true' });
    expect(await post('POST /things', undefined)).toMatchObject({ body: { count: 4 } });
    expect(made.map((id) => typeof id)).toEqual(['string', 'string', 'string', 'undefined']);
  }));

test('what made nothing is tried again', () =>
  given(async ({ post, caller }) => {
    expect(await post('POST /things', 'a', { refused: 1 })).toMatchObject({ status: 409 });
    expect(await post('POST /things', 'a')).toMatchObject({ status: 201, replayed: undefined });
    expect(await post('POST /either', 'b')).toMatchObject({ status: 200 });
    expect(await post('POST /either', 'b')).toMatchObject({ status: 200, replayed: undefined });
    expect(await post('POST /either', 'c', { status: 201 })).toMatchObject({ status: 201 });
    expect(await post('POST /either', 'c', { status: 201 })).toMatchObject({ status: 201, replayed: 'true' });
    // What is no text can't be kept.
    expect(await post('POST /things', 'd', { stream: 1 })).toMatchObject({ status: 201, body: 'bytes' });
    expect(await post('POST /things', 'd', { stream: 1 })).toMatchObject({ status: 201, replayed: undefined });
    // What was made is made, whatever becomes of its answer.
    caller.isKept = false;
    expect(await post('POST /things', 'e')).toMatchObject({ status: 201 });
  }));

test('a key is its caller’s own, and for one request', () =>
  given(async ({ post, caller }) => {
    const callers: [Identity, string][] = [
      [user(1), '192.0.2.1'],
      [user(2), '192.0.2.1'],
      [user(1, { id: 1, name: 't' }), '192.0.2.1'],
      [user(1, { id: 2, name: 't' }), '192.0.2.1'],
      [{ kind: 'local' }, '127.0.0.1'],
      [{ kind: 'anonymous' }, '192.0.2.1'],
      [{ kind: 'anonymous' }, '192.0.2.2'],
    ];
    for (const [index, [identity, address]] of callers.entries()) {
      Object.assign(caller, { identity, address });
      expect(await post('POST /things', 'key')).toMatchObject({ body: { count: index + 1 }, replayed: undefined });
    }
    // A token is the same wherever it comes from, as is who signed in.
    Object.assign(caller, { identity: user(1), address: '192.0.2.99' });
    expect(await post('POST /things', 'key')).toMatchObject({ body: { count: 1 }, replayed: 'true' });
    expect((await post('POST /things', 'key', { other: 1 })).status).toBe(422);
    expect((await post('POST /things?confirm_within=10', 'key')).status).toBe(422);
    expect((await post('POST /jobs', 'key')).status).toBe(422);
  }));

test('a key is printable and not too long, and means nothing where nothing is made', () =>
  given(async ({ post, made }) => {
    for (const key of ['a', 'a b', '~'.repeat(255), '!', `!${' '.repeat(253)}~`]) {
      expect(await post('POST /things', key)).toMatchObject({ status: 201 });
    }
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters';
    for (const key of ['', 'é', 'a\tb', ' a', 'a ', '~'.repeat(256), '\x7f']) {
      expect(await post('POST /things', key), key).toMatchObject({ status: 400, body: { error: message } });
    }
    made.length = 0;
    for (const path of ['POST /things/1', 'PUT /things', 'POST /setup', 'POST /plain']) {
      expect(await post(path, 'key')).toMatchObject({ replayed: undefined });
      expect(await post(path, 'key'), path).toMatchObject({ replayed: undefined });
    }
    expect(made).toEqual(Array(8).fill(undefined));
  }));
