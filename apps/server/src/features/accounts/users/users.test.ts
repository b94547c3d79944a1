import type { AcceptedInvite, AuditEntry, Invite, InvitePreview, ResentInvite, User } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, type Caller, createGiven, PASSWORD } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('users', (kind) => {
  let app: TestApp;
  let given: ReturnType<typeof createGiven>;
  let admin: Caller;
  let now = Date.now();

  beforeAll(async () => {
    app = await startApp(kind, {}, { clock: () => new Date(now) });
    given = createGiven(app);
    admin = await given.administrator();
  });
  afterAll(() => app.stop());

  const send = <T = User & { error: string }>(method: string, path: string, body?: unknown) =>
    app.send<T>(method, path, body, admin.headers);

  test('are added, read, listed, changed and deleted', async () => {
    const created = await send('POST', '/users', { email: ' Ann@Bücher.example ', password: PASSWORD });
    expect(created.status).toBe(201);
    const user = created.body;
    expect(user).toEqual({
      id: user.id,
      email: 'ann@xn--bcher-kva.example',
      name: '',
      role: 'user',
      status: 'active',
      totp_enabled: false,
      last_login: null,
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    });
    expect((await send('GET', `/users/${user.id}`)).body).toEqual(user);
    expect((await send<User[]>('GET', '/users')).body).toContainEqual(user);
    const changed = await send('PUT', `/users/${user.id}`, { ...user, name: 'Ann', role: 'admin' });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Ann', role: 'admin', email: user.email } });
    expect(changed.headers.get('x-sallyport-ignored-fields')).toContain('totp_enabled');
    expect((await send('DELETE', `/users/${user.id}`)).status).toBe(204);
    expect(await send('GET', `/users/${user.id}`)).toMatchObject({ status: 404, body: { error: 'User not found' } });
  });

  test.each([
    [{ password: PASSWORD }, 'email is required'],
    [{ email: 'a@example.com' }, 'password is required'],
    [{ email: 'a@example.com', password: 'short' }, 'password must be at least 10 characters long'],
    [{ email: 'a@example.com', password: PASSWORD, role: 'root' }, 'role must be one of: admin, user'],
    [{ email: 'a@localhost..', password: PASSWORD }, 'email must be a valid e-mail address'],
    [{ email: 'a@127.0.0.1', password: PASSWORD }, 'email must be a valid e-mail address'],
    [{ email: '.a@example.com', password: PASSWORD }, 'email must be a valid e-mail address'],
    [{ email: 'a b@example.com', password: PASSWORD }, 'email must be a valid e-mail address'],
    [{ email: 'a\u200bb@example.com', password: PASSWORD }, 'email must be a valid e-mail address'],
    [{ email: `${'a'.repeat(65)}@example.com`, password: PASSWORD }, 'email must be a valid e-mail address'],
    [{ email: 'x@example.com\0', password: PASSWORD }, 'email must not contain NUL characters'],
  ])('refuses %j', async (body, error) => {
    expect(await send('POST', '/users', body)).toMatchObject({ status: 400, body: { error } });
  });

  test('have one account for an address, however it is written', async () => {
    const user = await given.user();
    const email = user.email.toUpperCase();
    expect((await send('POST', '/users', { email, password: PASSWORD })).status).toBe(409);
    expect((await send('POST', '/users/invite', { email })).status).toBe(409);
    expect((await send('PUT', `/users/${admin.user.id}`, { email })).status).toBe(409);
  });

  test('take over no account with its session or token alone', async () => {
    const own = await given.caller('admin');
    const { headers } = own;
    expect(await app.send('PUT', `/users/${own.user.id}`, { password: 'another password' }, headers)).toMatchObject({
      status: 403,
      body: { error: 'For the own account this takes the password: POST /auth/change-password' },
    });
    expect(await app.send('DELETE', `/users/${own.user.id}/totp`, undefined, headers)).toMatchObject({
      status: 403,
      body: { error: 'For the own account this takes the password: POST /auth/totp/disable' },
    });
    expect((await app.send('PUT', `/users/${own.user.id}`, { name: 'Me' }, headers)).status).toBe(200);
    expect((await given.signIn(own.user.email)).user.name).toBe('Me');
    await send('DELETE', `/users/${own.user.id}`);
  });

  test('get no rights by an API token, which would outlive it', async () => {
    const other = await given.caller();
    const { token } = await given.apiToken(await given.administrator(), 'admin');
    const newcomer = { email: 'newcomer@example.com', name: 'N', password: 'another password', role: 'admin' };
    for (const [method, path, body] of [
      ['POST', '/users', newcomer],
      ['POST', '/users/invite', { email: newcomer.email, role: 'admin' }],
      ['PUT', `/users/${other.user.id}`, { role: 'admin' }],
      ['PUT', `/users/${other.user.id}`, { password: 'another password' }],
      ['DELETE', `/users/${other.user.id}/totp`, undefined],
      ['POST', '/tokens', { name: 'next', role: 'admin' }],
      ['POST', '/security/breakglass/generate', {}],
      ['POST', '/settings', { key: 'app.public_url', value: 'https://elsewhere.example' }],
      ['POST', '/settings', { key: 'smtp.host', value: 'elsewhere.example' }],
      ['POST', '/settings', { key: 'auth.require_totp', value: 'false' }],
    ] as const) {
      const answer = await app.send<{ error: string }>(method, path, body, bearer(token));
      expect([answer.status, answer.body.error], `${method} ${path}`).toEqual([
        403,
        expect.stringContaining('An API token can not'),
      ]);
    }
    const { body: users } = await send<{ email: string }[]>('GET', '/users');
    expect(users.map(({ email }) => email)).not.toContain(newcomer.email);
    // What it may do goes on: it changes nobody's rights.
    expect((await app.send('GET', '/users', undefined, bearer(token))).status).toBe(200);
    await send('DELETE', `/users/${other.user.id}`);
  });

  test.each(['0', '-1', '1.5', 'x', '99999999999'])('have numeric ids, not %s', async (id) => {
    for (const method of ['GET', 'DELETE']) {
      expect(await send(method, `/users/${id}`)).toMatchObject({ status: 400, body: { error: 'invalid id' } });
    }
    expect((await send('POST', `/users/${id}/resend-invite`)).body.error).toBe('invalid id');
  });

  test('lose sessions with a password set for them, and tokens with their account', async () => {
    const caller = await given.caller('admin');
    const { token } = await given.apiToken(caller, 'user');
    const status = async (headers: Record<string, string>) =>
      (await app.send('GET', '/auth/me', undefined, headers)).status;
    expect(await status(bearer(token))).toBe(200);
    await send('PUT', `/users/${caller.user.id}`, { password: 'another password' });
    expect(await status(caller.headers)).toBe(401);
    expect(await status(bearer(token))).toBe(200);
    await send('PUT', `/users/${caller.user.id}`, { status: 'disabled' });
    expect(await status(bearer(token))).toBe(401);
    await send('PUT', `/users/${caller.user.id}`, { status: 'active' });
    expect(await status(bearer(token))).toBe(200);
    await send('DELETE', `/users/${caller.user.id}`);
    expect(await status(bearer(token))).toBe(401);
  });

  test('leave their trace in the audit trail when they are deleted', async () => {
    const caller = await given.caller('admin');
    await app.send('POST', '/settings', { key: 'smtp.host', value: 'mail.example' }, caller.headers);
    await send('DELETE', `/users/${caller.user.id}`);
    const { body } = await send<AuditEntry[]>('GET', '/audit-logs?limit=2');
    expect(body[1]).toMatchObject({ action: 'setting.set', actor: caller.user.email });
    expect(body[0]).toMatchObject({ action: 'user.delete', details: { before: { email: caller.user.email } } });
  });

  const lastAdministrator = 'The last active administrator can not be removed, disabled or demoted';

  test('always have one active administrator', async () => {
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', { role: 'user' }],
      ['PUT', { status: 'disabled' }],
    ] as const) {
      expect(await send(method, `/users/${admin.user.id}`, body)).toMatchObject({
        status: 409,
        body: { error: lastAdministrator },
      });
    }
    // An invited administrator is none yet, and a disabled one is none any more.
    await send('POST', '/users/invite', { email: 'later@example.com', role: 'admin' });
    const disabled = await given.user('admin');
    await send('PUT', `/users/${disabled.id}`, { status: 'disabled' });
    expect((await send('DELETE', `/users/${admin.user.id}`)).status).toBe(409);
  });

  test('always have one active administrator, also when two remove each other at once', async () => {
    const other = await given.caller('admin');
    const answers = await Promise.all([
      app.send('PUT', `/users/${admin.user.id}`, { role: 'user' }, other.headers),
      app.send('PUT', `/users/${other.user.id}`, { role: 'user' }, admin.headers),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    // The second is refused as the last one, or because it is no administrator any more.
    expect(statuses[0]).toBe(200);
    expect([403, 409]).toContain(statuses[1]);
    const winner = answers[0].status === 200 ? other : admin;
    await app.send('PUT', `/users/${admin.user.id}`, { role: 'admin' }, winner.headers);
    await send('DELETE', `/users/${other.user.id}`);
  });

  const tokenOf = (url: string) => new URL(url).searchParams.get('token') ?? '';
  const validate = (token: string) => app.send<{ error: string }>('GET', `/invite/validate?token=${token}`);
  const accept = (token: string, more: object = {}) =>
    app.send<AcceptedInvite & { error: string }>('POST', '/invite/accept', {
      token,
      name: 'Invited',
      password: PASSWORD,
      ...more,
    });

  test('are invited by a link that works once, within 48 hours', async () => {
    const invited = await send<Invite>('POST', '/users/invite', { email: 'invited@example.com', role: 'admin' });
    expect(invited).toMatchObject({
      status: 201,
      body: { user: { status: 'pending', role: 'admin' }, email_sent: false },
    });
    expect(Date.parse(invited.body.expires_at) - now).toBe(48 * 3_600_000);
    expect(invited.body.invite_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/accept-invite\?token=[\w-]{43}$/);
    const token = tokenOf(invited.body.invite_url);
    expect(await validate(token)).toMatchObject({ status: 200, body: { valid: true, email: 'invited@example.com' } });
    expect((await accept(token, { password: 'short' })).status).toBe(400);
    expect(await accept(token)).toMatchObject({ status: 200, body: { user: { status: 'active', name: 'Invited' } } });
    expect((await validate(token)).status).toBe(409);
    expect((await accept(token)).status).toBe(409);
    expect((await given.signIn('invited@example.com')).user.role).toBe('admin');
    expect(await send('POST', `/users/${invited.body.user.id}/resend-invite`)).toMatchObject({
      status: 400,
      body: { error: 'User is not in pending status' },
    });
  });

  test('can accept an invitation only once, also when it is sent many times at once', async () => {
    const { body } = await send<Invite>('POST', '/users/invite', { email: 'many@example.com' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(tokenOf(body.invite_url))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  test('are told apart: unknown, truncated and expired invitations', async () => {
    const { body } = await send<Invite>('POST', '/users/invite', { email: 'late@example.com' });
    const token = tokenOf(body.invite_url);
    for (const unknown of ['x', token.slice(1), `${token}x`, 'SAMPLE_TOKEN_PREVIEW', '%01']) {
      expect((await validate(unknown)).status, unknown).toBe(404);
    }
    expect(await validate('')).toMatchObject({ status: 400, body: { error: 'token is required' } });
    now += 48 * 3_600_000;
    admin = await given.signIn(admin.user.email);
    expect((await validate(token)).status).toBe(410);
    expect((await accept(token)).status).toBe(410);
    const again = await send<ResentInvite>('POST', `/users/${body.user.id}/resend-invite`);
    expect(again).toMatchObject({ status: 200, body: { email_sent: false, expires_at: expect.any(String) } });
    expect((await validate(tokenOf(again.body.invite_url))).status).toBe(200);
    const third = await send<ResentInvite>('POST', `/users/${body.user.id}/resend-invite`);
    expect((await validate(tokenOf(again.body.invite_url))).status).toBe(410);
    await send('DELETE', `/users/${body.user.id}`);
    expect((await validate(tokenOf(third.body.invite_url))).status).toBe(404);
    expect(await send('POST', `/users/${body.user.id}/resend-invite`)).toMatchObject({
      status: 404,
      body: { error: 'User not found' },
    });
  });

  test('can’t accept an invitation that went to an address which is theirs no more', async () => {
    const { body } = await send<Invite>('POST', '/users/invite', { email: 'typo@example.com', role: 'admin' });
    await send('PUT', `/users/${body.user.id}`, { email: 'right@example.com' });
    expect((await validate(tokenOf(body.invite_url))).status).toBe(410);
    const again = await send<ResentInvite>('POST', `/users/${body.user.id}/resend-invite`);
    expect((await validate(tokenOf(again.body.invite_url))).status).toBe(200);
  });

  test('can’t be activated without a password, nor go back to pending', async () => {
    const { body } = await send<Invite>('POST', '/users/invite', { email: 'waiting@example.com' });
    const path = `/users/${body.user.id}`;
    expect((await send('PUT', path, { status: 'active' })).status).toBe(400);
    expect((await send('PUT', path, { ...body.user, name: 'Still pending' })).body).toMatchObject({
      status: 'pending',
    });
    expect((await send('PUT', path, { status: 'active', password: PASSWORD })).status).toBe(200);
    expect((await validate(tokenOf(body.invite_url))).status).toBe(410);
    expect((await send('PUT', path, { status: 'pending' })).status).toBe(400);
  });

  test('see what an invitation link would look like', async () => {
    const preview = (body: object) =>
      send<InvitePreview & { error: string }>('POST', '/users/preview-invite-url', body);
    const local = await preview({ email: 'New@example.com' });
    expect(local).toMatchObject({
      status: 200,
      body: {
        base_url: app.url,
        preview_url: `${app.url}/accept-invite?token=SAMPLE_TOKEN_PREVIEW`,
        is_configured: false,
        email: 'New@example.com',
        warning: true,
        warning_message: expect.stringContaining('may not be reachable from external networks'),
      },
    });
    await send('POST', '/settings', { key: 'app.public_url', value: 'https://proxy.example:8443/' });
    expect((await preview({ email: 'new@example.com' })).body).toEqual({
      base_url: 'https://proxy.example:8443',
      preview_url: 'https://proxy.example:8443/accept-invite?token=SAMPLE_TOKEN_PREVIEW',
      is_configured: true,
      email: 'new@example.com',
      warning: false,
      warning_message: '',
    });
    for (const body of [{}, { email: '' }]) {
      expect(await preview(body)).toMatchObject({ status: 400, body: { error: 'email is required' } });
    }
    expect((await preview({ email: 'nobody' })).status).toBe(400);
    expect((await send<User[]>('GET', '/users')).body.map(({ email }) => email)).not.toContain('new@example.com');
  });
});
