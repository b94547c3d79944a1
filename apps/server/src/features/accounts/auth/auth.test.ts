import { createHmac, hkdfSync } from 'node:crypto';
import type { AuditEntry, Me, Session, SignedIn } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, createGiven, fromOutside, PASSWORD } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const SECRET = 'a session secret of the deployment, long enough';

onBothDatabases('signing in', (kind) => {
  let app: TestApp;
  let given: ReturnType<typeof createGiven>;
  let now = Date.now();

  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: SECRET }, { clock: () => new Date(now) });
    given = createGiven(app);
    await given.administrator();
  });
  afterAll(() => app.stop());

  const me = (headers: Record<string, string>) => app.send<Me>('GET', '/auth/me', undefined, headers);
  const login = (email: string, password: string, headers: Record<string, string> = {}) =>
    app.send<SignedIn & { error: string }>('POST', '/auth/login', { email, password }, headers);

  test('answers with a token, when it ends, the user, and the same token in a guarded cookie', async () => {
    const user = await given.user();
    const answer = await login(user.email.toUpperCase(), PASSWORD);
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({ id: user.id, last_login: new Date(now).toISOString() });
    expect(Date.parse(answer.body.expires_at) - now).toBeGreaterThan(23.99 * 3_600_000);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toContain(`sallyport_session=${answer.body.token};`);
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await me({ cookie: `a=b; sallyport_session=${answer.body.token}` })).body.user.email).toBe(user.email);
    const overTls = await login(user.email, PASSWORD, { 'x-forwarded-proto': 'https' });
    expect(overTls.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  test('tells who is signed in at both paths, and answers 401 without a credential, also to a local caller', async () => {
    const { headers } = await given.caller();
    for (const url of [`${app.url}/api/auth/me`, `${app.url}/api/v1/auth/me`]) {
      expect((await fetch(url, { headers })).status).toBe(200);
      expect((await fetch(url)).status).toBe(401);
    }
  });

  test('refuses unknown address, wrong password and disabled user in the same words', async () => {
    const admin = await given.administrator();
    const user = await given.user();
    const disabled = await given.user();
    await app.send('PUT', `/users/${disabled.id}`, { status: 'disabled' }, admin.headers);
    const answers = [
      await login('nobody@example.com', PASSWORD),
      await login('not an address', PASSWORD),
      await login(user.email, 'wrong password'),
      await login(disabled.email, PASSWORD),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 401, body: { error: 'Invalid email or password', code: 401 } });
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });

  const base64 = (value: object | string) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const forge = (header: object, payload: object, key: string | Buffer, hash = 'sha256') => {
    const text = `${base64(header)}.${base64(payload)}`;
    return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`;
  };
  const realKey = Buffer.from(hkdfSync('sha256', SECRET, '', 'sallyport sessions', 32));
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

  test('takes only tokens it signed itself, by the pinned algorithm', async () => {
    const { token } = await given.caller();
    const claims = claimsOf(token);
    const header = { alg: 'HS256', typ: 'JWT' };
    // The forge works: with the right key it is believed.
    expect((await me(bearer(forge(header, claims, realKey)))).status).toBe(200);
    const [head = '', payload = '', signature = ''] = token.split('.');
    const admin = base64({ ...claims, role: 'admin', sub: '1' });
    for (const bad of [
      forge(header, claims, 'another key'),
      forge(header, claims, SECRET),
      `${base64({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      `${base64({ alg: 'none', typ: 'JWT' })}.${payload}.${signature}`,
      forge({ alg: 'HS384', typ: 'JWT' }, claims, realKey, 'sha384'),
      forge({ alg: 'HS512', typ: 'JWT' }, claims, realKey, 'sha512'),
      forge({ alg: 'HS256', typ: 'other' }, claims, realKey),
      forge({ ...header, crit: ['b64'], b64: false }, claims, realKey),
      forge(header, { ...claims, exp: undefined }, realKey),
      forge(header, { ...claims, iss: 'another' }, realKey),
      forge(header, { ...claims, iat: claims.iat + 600 }, realKey),
      forge(header, { ...claims, sid: '00000000-0000-4000-8000-000000000000' }, realKey),
      forge(header, { ...claims, sub: '1' }, realKey),
      `${head}.${admin}.${signature}`,
      token.slice(0, -1),
      token.slice(0, 40),
      `${token}A`,
      `${token}.`,
      'sp_',
      'sp_unknown',
      '0',
      'x'.repeat(10_000),
    ]) {
      expect(await me(bearer(bad)), bad.slice(0, 200)).toMatchObject({ status: 401 });
    }
    for (const authorization of ['Bearer', 'Bearer ', 'Basic YTpi', token, `bearer ${token} x`]) {
      expect(await me({ authorization }), authorization.slice(0, 20)).toMatchObject({ status: 401 });
    }
  });

  test('gives the role of the user as it is now, whatever the token says', async () => {
    const admin = await given.administrator();
    const { token, user } = await given.caller('admin');
    const users = () => app.send('GET', '/users', undefined, bearer(token));
    expect((await users()).status).toBe(200);
    await app.send('PUT', `/users/${user.id}`, { role: 'user' }, admin.headers);
    expect(await users()).toMatchObject({ status: 403, body: { error: 'Admin access required' } });
    await app.send('PUT', `/users/${user.id}`, { role: 'admin' }, admin.headers);
    expect((await users()).status).toBe(200);
    await app.send('PUT', `/users/${user.id}`, { status: 'disabled' }, admin.headers);
    expect((await users()).status).toBe(401);
    await app.send('PUT', `/users/${user.id}`, { status: 'active' }, admin.headers);
    // A session does not come back to life with its user.
    expect((await users()).status).toBe(401);
  });

  test('leaves no session behind when the user is disabled while the password is checked', async () => {
    const admin = await given.administrator();
    for (let n = 0; n < 3; n += 1) {
      const user = await given.user();
      const set = (status: string) => app.send('PUT', `/users/${user.id}`, { status }, admin.headers);
      const [answer] = await Promise.all([login(user.email, PASSWORD), set('disabled')]);
      await set('active');
      if (answer.status === 200) expect((await me(bearer(answer.body.token))).status).toBe(401);
      else expect(answer.status).toBe(401);
    }
  });

  test('keeps API tokens from what would let them outlive their revocation', async () => {
    const admin = await given.administrator();
    const headers = bearer((await given.apiToken(admin, 'admin')).token);
    expect((await me(headers)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', '/tokens', { name: 'another', role: 'admin' }],
      ['POST', '/auth/change-password', { current_password: PASSWORD, new_password: 'a new password' }],
      ['POST', '/auth/totp/setup', { password: PASSWORD }],
      ['POST', '/auth/logout', undefined],
      ['GET', '/auth/sessions', undefined],
    ] as const) {
      const answer = await app.send(method, path, body, headers);
      expect(answer, path).toMatchObject({
        status: 403,
        body: { error: expect.stringMatching(/^An API token can not .*; sign in instead$/) },
      });
    }
  });

  test('refuses a credential that is presented and not valid, even where none is needed, but never in the way of a public route', async () => {
    for (const headers of [bearer('nonsense'), { cookie: 'sallyport_session=nonsense' }]) {
      expect((await app.send('GET', '/proxy-hosts', undefined, headers)).status).toBe(401);
      expect((await app.send('GET', '/health', undefined, headers)).status).toBe(200);
      expect((await login('admin@example.com', PASSWORD, headers)).status).toBe(200);
    }
    const refused = await app.send('GET', '/proxy-hosts', undefined, { cookie: 'sallyport_session=nonsense' });
    expect(refused.headers.get('set-cookie')).toMatch(/^sallyport_session=; Max-Age=0;/);
  });

  test('takes a cookie for a change only from its own site', async () => {
    const { token } = await given.caller();
    const cookie = { cookie: `__Host-sallyport_session=${token}` };
    const logout = (headers: Record<string, string>) =>
      app.send('POST', '/auth/logout', undefined, { ...cookie, ...headers });
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: `${app.url}0` },
    ]) {
      expect(await logout(headers as Record<string, string>)).toMatchObject({
        status: 403,
        body: { error: 'Cross-site request refused' },
      });
    }
    // Reading is safe: another site can't see the answer.
    expect((await me({ ...cookie, origin: 'https://evil.example' })).status).toBe(200);
    expect((await logout({ origin: app.url, 'sec-fetch-site': 'same-origin' })).status).toBe(204);
    expect((await me(cookie)).status).toBe(401);
  });

  test('ends a session at logout, and only that one', async () => {
    const { user, headers } = await given.caller();
    const other = await given.signIn(user.email);
    expect((await app.send('POST', '/auth/logout', undefined, headers)).status).toBe(204);
    expect((await me(headers)).status).toBe(401);
    expect((await me(other.headers)).status).toBe(200);
    expect((await app.send('POST', '/auth/logout', undefined, headers)).status).toBe(401);
  });

  test('lists the own sessions and ends one of them, but nobody else’s', async () => {
    const { user, headers } = await given.caller();
    const other = await given.signIn(user.email);
    const stranger = await given.caller();
    const list = await app.send<Session[]>('GET', '/auth/sessions', undefined, headers);
    expect(list.body).toHaveLength(2);
    expect(list.body.filter(({ is_current }) => is_current)).toHaveLength(1);
    const second = list.body.find(({ is_current }) => !is_current);
    expect((await app.send('DELETE', `/auth/sessions/${second?.id}`, undefined, stranger.headers)).status).toBe(404);
    expect((await app.send('DELETE', `/auth/sessions/${second?.id}`, undefined, headers)).status).toBe(204);
    expect((await me(other.headers)).status).toBe(401);
    expect((await me(headers)).status).toBe(200);
  });

  test('changes the password when the present one is right, and ends every session', async () => {
    const { user, headers } = await given.caller();
    const other = await given.signIn(user.email);
    const change = (current_password: string, new_password: string) =>
      app.send('POST', '/auth/change-password', { current_password, new_password }, headers);
    expect((await change('wrong password', 'a new password')).status).toBe(403);
    expect(await change(PASSWORD, 'too short')).toMatchObject({
      status: 400,
      body: { error: 'new_password must be at least 10 characters long' },
    });
    expect((await change(PASSWORD, user.email)).status).toBe(400);
    expect((await change(PASSWORD, 'a new password')).status).toBe(204);
    expect((await me(headers)).status).toBe(401);
    expect((await me(other.headers)).status).toBe(401);
    expect((await login(user.email, PASSWORD)).status).toBe(401);
    expect((await login(user.email, 'a new password')).status).toBe(200);
  });

  test('refuses a megabyte of password without hashing it', async () => {
    expect((await login('admin@example.com', 'x'.repeat(1_000_000))).status).toBe(400);
    expect((await login('admin@example.com', 'x'.repeat(1_100_000))).status).toBe(413);
  });

  test('lets nobody be signed in for longer than a day', async () => {
    const { headers } = await given.caller();
    now += 23.9 * 3_600_000;
    expect((await me(headers)).status).toBe(200);
    now += 0.2 * 3_600_000;
    expect((await me(headers)).status).toBe(401);
    now -= 24.1 * 3_600_000;
  });

  test('keeps sessions over a restart when the deployment has set a secret', async () => {
    const { headers } = await given.caller();
    await app.restart();
    expect((await me(headers)).status).toBe(200);
  });

  test('stops guessing: 5 failures for an account from one address, each address on its own, the local host apart', async () => {
    const user = await given.user();
    const attempts = async (headers: Record<string, string>, password = 'wrong password') =>
      (await login(user.email, password, headers)).status;
    for (let n = 0; n < 5; n += 1) expect(await attempts(fromOutside('192.0.2.1'))).toBe(401);
    const refused = await login(user.email, PASSWORD, fromOutside('192.0.2.1'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await attempts(fromOutside('192.0.2.2'), PASSWORD)).toBe(200);
    expect(await attempts({}, PASSWORD)).toBe(200);
    now += 15 * 60_000;
    expect(await attempts(fromOutside('192.0.2.1'), PASSWORD)).toBe(200);
    now -= 15 * 60_000;
  });

  test('records every sign-in event, and never what was typed as a password', async () => {
    const admin = await given.administrator();
    const { user } = await given.caller();
    await login(user.email, 'typed-wrong-secret');
    await login('typed-as-name-secret', 'x');
    const { body } = await app.send<AuditEntry[]>('GET', '/audit-logs?limit=50', undefined, admin.headers);
    expect(body[0]).toMatchObject({
      action: 'auth.login_failed',
      actor: 'local',
      details: { after: { reason: 'unknown user' } },
    });
    expect(body[1]).toMatchObject({
      action: 'auth.login_failed',
      details: { after: { email: user.email, reason: 'wrong password' } },
      method: 'POST',
      path: '/api/v1/auth/login',
      ip: '127.0.0.1',
    });
    expect(body[2]).toMatchObject({ action: 'auth.login', actor: user.email, resource: `users/${user.id}` });
    expect(JSON.stringify(body)).not.toMatch(/typed-(wrong|as-name)-secret/);
  });
});
