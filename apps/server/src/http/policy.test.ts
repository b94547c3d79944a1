import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Identity, UserIdentity } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { registerErrorMapping } from './error-mapping.ts';
import { type Policy, registerPolicy } from './policy.ts';

const user = (more: Partial<UserIdentity> = {}): UserIdentity => ({
  ...{ kind: 'user', id: 1, email: 'a@example.com', role: 'user', sessionId: 's', token: null, mustEnrolTotp: false },
  ...more,
});
const byToken = { sessionId: null, token: { id: 1, name: 't' } };
const CALLERS = {
  nobody: { kind: 'anonymous' },
  local: { kind: 'local' },
  user: user(),
  'user by token': user(byToken),
  administrator: user({ role: 'admin' }),
  'administrator by token': user({ role: 'admin', ...byToken }),
  'administrator who must enrol': user({ role: 'admin', mustEnrolTotp: true }),
} satisfies Record<string, Identity>;
type Caller = keyof typeof CALLERS;

const POLICIES: Policy[] = ['public', 'account', 'member', 'sensitive', 'administrator', 'granting'];

interface Hooks {
  identity: Identity;
  fault: Error | undefined;
  asked: number;
}

/** Routes of every policy, and who asks is who the test says. */
const given = (isOpen = false) => {
  const hooks: Hooks = { identity: CALLERS.nobody, fault: undefined, asked: 0 };
  const app = Fastify();
  registerErrorMapping(app, { answerPage: () => false });
  registerPolicy(app, {
    async identify() {
      hooks.asked += 1;
      if (hooks.fault) throw hooks.fault;
      return hooks.identity;
    },
    clientAddress: () => '192.0.2.1',
    isOpen,
  });
  for (const policy of POLICIES) {
    app.get(`/api/v1/${policy}`, { config: { policy } }, async ({ actor, allows }) => ({
      actor: { ...actor, isLocal: actor.isLocal },
      allowed: POLICIES.filter(allows),
    }));
  }
  app.get('/plain', { config: { policy: 'public' } }, async () => 'x');
  app.get('/api/v1/open', { config: { policy: 'member' } }, async ({ checkPolicy }) => {
    hooks.identity = CALLERS.nobody;
    await checkPolicy('public');
    await checkPolicy();
  });
  const get = async (path: string, headers = {}) => app.inject({ url: path, headers });
  const answers = async (caller: Caller) => {
    hooks.identity = CALLERS[caller];
    const all = await Promise.all(
      POLICIES.map(async (policy) => [policy, (await get(`/api/v1/${policy}`)).statusCode]),
    );
    return Object.fromEntries(all) as Record<Policy, number>;
  };
  return { app, hooks, get, answers };
};

const [all, ok] = [{ public: 200, account: 200, member: 200, sensitive: 200, administrator: 200, granting: 200 }, 200];
const expected: Record<Caller, object> = {
  nobody: { ...all, account: 401, member: 401, sensitive: 401, administrator: 403, granting: 403 },
  local: { ...all, account: 401, administrator: 403, granting: 403 },
  user: { ...all, sensitive: 403, administrator: 403, granting: 403 },
  'user by token': { ...all, sensitive: 403, administrator: 403, granting: 403 },
  administrator: all,
  'administrator by token': { ...all, granting: 403 },
  'administrator who must enrol': { ...all, member: 403, sensitive: 403, administrator: 403, granting: 403 },
};

test.each(Object.keys(CALLERS) as Caller[])('%s may call what the policy says', async (caller) => {
  expect(await given().answers(caller)).toEqual(expected[caller]);
  // Mode open leaves out a credential for what members do, and gives nobody what is an administrator's.
  const open = caller === 'nobody' ? { member: ok, sensitive: ok } : {};
  expect(await given(true).answers(caller)).toEqual({ ...expected[caller], ...open });
});

test('a refusal says what is missing', async () => {
  const { hooks, get } = given();
  expect((await get('/api/v1/member')).headers['www-authenticate']).toBe('Bearer');
  expect((await get('/api/v1/administrator')).json()).toMatchObject({ error: 'Admin access required' });
  hooks.identity = CALLERS.user;
  expect((await get('/api/v1/granting')).json()).toMatchObject({ error: 'Admin access required' });
  hooks.identity = CALLERS['administrator by token'];
  expect((await get('/api/v1/granting')).json()).toMatchObject({ error: expect.stringContaining('sign in instead') });
  hooks.identity = CALLERS['administrator who must enrol'];
  expect((await get('/api/v1/member')).json()).toMatchObject({ details: 'totp_enrolment_required' });
});

test('a credential that ended is none where anybody may come, and refused elsewhere; a fault is a fault everywhere', async () => {
  const { hooks, get } = given();
  hooks.fault = refuse.unauthorized('ended');
  expect((await get('/api/v1/public')).json()).toMatchObject({ actor: { identity: { kind: 'anonymous' } } });
  for (const policy of POLICIES.slice(1)) expect((await get(`/api/v1/${policy}`)).statusCode, policy).toBe(401);
  hooks.fault = new Error('the store is gone');
  for (const policy of POLICIES) expect((await get(`/api/v1/${policy}`)).statusCode, policy).toBe(500);
});

test('a route asks what else its caller may do, and again while it lasts', async () => {
  const { hooks, get } = given();
  hooks.identity = CALLERS.user;
  expect((await get('/api/v1/member')).json()).toMatchObject({ allowed: ['public', 'account', 'member'] });
  hooks.identity = CALLERS['administrator who must enrol'];
  expect((await get('/api/v1/account')).json()).toMatchObject({ allowed: [] });
  hooks.identity = CALLERS.user;
  hooks.asked = 0;
  expect((await get('/api/v1/open')).statusCode).toBe(401);
  expect(hooks.asked).toBe(3);
});

test('tells who it is, without the query, which may hold a token; answers of the API are kept by nobody', async () => {
  const { hooks, get } = given();
  hooks.identity = CALLERS.user;
  const answer = await get('/api/v1/member?token=x', { 'user-agent': 'curl', 'x-forwarded-for': '203.0.113.1' });
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.json().actor).toMatchObject({
    ...{ identity: CALLERS.user, ip: '192.0.2.1', userAgent: 'curl', method: 'GET', path: '/api/v1/member' },
    // By the header: it came through some proxy.
    ...{ isLocal: false, isProxied: false, requestId: expect.any(String) },
  });
  expect((await get('/plain')).headers['cache-control']).toBeUndefined();
});

test('is local once for a request, also when the caller has gone meanwhile', async () => {
  const { app } = given();
  const seen: boolean[] = [];
  app.get('/twice', { config: { policy: 'public' } }, async ({ actor, raw }) => {
    seen.push(actor.isLocal);
    raw.headers.via = '1.1 somebody';
    seen.push(actor.isLocal);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.end('GET /twice HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await text(socket);
  await app.close();
  expect(seen).toEqual([true, true]);
});

test('a route without a policy stops the start; what libraries give out is public', async () => {
  const { app, hooks, get } = given();
  expect(() => app.post('/api/v1/forgotten', async () => 'x')).toThrow('POST /api/v1/forgotten declares no policy');
  const urls = ['/api/docs/page', '/assets/a.js'];
  for (const url of urls) app.get(url, async () => 'x');
  hooks.fault = refuse.unauthorized('ended');
  for (const url of urls) {
    const answer = await get(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBeUndefined();
  }
  expect(app.routePolicies).toContain('GET /assets/a.js public');
  expect(app.routePolicies).toContain('GET /api/v1/granting granting');
  // Nothing is asked of who asks for nothing.
  hooks.asked = 0;
  expect((await get('/nowhere')).statusCode).toBe(404);
  expect(hooks.asked).toBe(0);
});
