import type { Me, RecoveryCodes, TotpSecret } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shownCode } from '../../../../testing/authenticator.ts';
import { type Caller, createGiven, PASSWORD } from '../../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../../testing/start-app.ts';

onBothDatabases('two-factor sign-in', (kind) => {
  let app: TestApp;
  let given: ReturnType<typeof createGiven>;
  let now = Date.now();

  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) }, { clock: () => new Date(now) });
    given = createGiven(app);
    await given.administrator();
  });
  afterAll(() => app.stop());

  const code = (secret: string) => shownCode(secret, new Date(now));
  const post = <T = { error: string; details?: string }>(path: string, body: object, caller: Pick<Caller, 'headers'>) =>
    app.send<T>('POST', path, body, caller.headers);
  const login = (email: string, more: object = {}) =>
    app.send<{ token: string; error: string; details?: string }>('POST', '/auth/login', {
      email,
      password: PASSWORD,
      ...more,
    });

  const enrol = async (caller: Caller) => {
    const begun = await post<TotpSecret>('/auth/totp/setup', { password: PASSWORD }, caller);
    expect(begun.status).toBe(200);
    const { secret } = begun.body;
    expect(begun.body.otpauth_url).toContain(`issuer=Sallyport&secret=${secret}&`);
    const enabled = await post<RecoveryCodes>('/auth/totp/enable', { code: code(secret) }, caller);
    expect(enabled.status).toBe(200);
    return { secret, codes: enabled.body.recovery_codes };
  };

  test('is set up with the password and a first code, and from then on asked for', async () => {
    const caller = await given.caller();
    const { email } = caller.user;
    expect((await post('/auth/totp/setup', { password: 'wrong password' }, caller)).status).toBe(403);
    expect((await post('/auth/totp/enable', { code: '000000' }, caller)).status).toBe(409);
    const { secret, codes } = await enrol(caller);
    expect(codes).toHaveLength(10);
    expect((await app.send<Me>('GET', '/auth/me', undefined, caller.headers)).body.user.totp_enabled).toBe(true);
    expect((await post('/auth/totp/setup', { password: PASSWORD }, caller)).status).toBe(409);
    expect(await login(email)).toMatchObject({
      status: 401,
      body: { error: 'Two-factor code required', details: 'totp_required' },
    });
    // The code that set it up has been used.
    expect((await login(email, { totp_code: code(secret) })).status).toBe(401);
    now += 30_000;
    expect((await login(email, { totp_code: code(secret) })).status).toBe(200);
    expect((await login(email, { totp_code: code(secret) })).status).toBe(401);
    now += 30_000;
    expect((await login(email, { totp_code: code(secret), password: 'wrong password' })).body.error).toBe(
      'Invalid email or password',
    );
  });

  test('takes each recovery code once, however it is written', async () => {
    const caller = await given.caller();
    const { codes } = await enrol(caller);
    const recover = async (recovery_code = '') => (await login(caller.user.email, { recovery_code })).status;
    expect(await recover(codes[0])).toBe(200);
    expect(await recover(codes[0])).toBe(401);
    expect(await recover(codes[1]?.toUpperCase().replaceAll('-', ' '))).toBe(200);
    const renewed = await post<RecoveryCodes>('/auth/totp/recovery-codes', { password: PASSWORD }, caller);
    expect(await recover(codes[2])).toBe(401);
    expect(await recover(renewed.body.recovery_codes[2])).toBe(200);
  });

  test('can’t be guessed: wrong codes are throttled like wrong passwords', async () => {
    const caller = await given.caller();
    const { secret } = await enrol(caller);
    now += 30_000;
    for (let n = 0; n < 5; n += 1) expect((await login(caller.user.email, { totp_code: '000000' })).status).toBe(401);
    expect((await login(caller.user.email, { totp_code: code(secret) })).status).toBe(429);
  });

  test('accepts one code once, also when it is sent many times at once', async () => {
    const caller = await given.caller();
    const { secret } = await enrol(caller);
    now += 30_000;
    const totp_code = code(secret);
    const answers = await Promise.all(Array.from({ length: 4 }, () => login(caller.user.email, { totp_code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  test('is turned off with the password, and by an administrator for who lost it', async () => {
    const admin = await given.administrator();
    const caller = await given.caller();
    await enrol(caller);
    expect((await post('/auth/totp/disable', { password: PASSWORD }, caller)).status).toBe(204);
    expect((await login(caller.user.email)).status).toBe(200);
    await enrol(caller);
    expect((await app.send('DELETE', `/users/${caller.user.id}/totp`, undefined, admin.headers)).status).toBe(204);
    expect((await login(caller.user.email)).status).toBe(200);
  });

  test('can be demanded of everybody: until then nothing but setting it up works', async () => {
    const admin = await given.administrator();
    const caller = await given.caller();
    const enrolled = await given.caller('admin');
    await enrol(enrolled);
    const { token } = await given.apiToken(admin, 'admin');
    await app.send('POST', '/settings', { key: 'auth.require_totp', value: 'true' }, admin.headers);
    const hosts = (headers: Record<string, string>) => app.send('GET', '/proxy-hosts', undefined, headers);
    expect(await hosts(caller.headers)).toMatchObject({ status: 403, body: { details: 'totp_enrolment_required' } });
    expect((await hosts(admin.headers)).status).toBe(403);
    expect((await hosts(enrolled.headers)).status).toBe(200);
    // Whatever an administrator may do, and whoever else: the door is one for all routes.
    const answers = new Set<string>();
    for (const line of app.routePolicies()) {
      const [method = '', url = '', policy = ''] = line.split(' ');
      if (policy === 'public' || policy === 'account' || method === 'HEAD') continue;
      const path = url.replace('/api/v1', '').replaceAll(/:\w+/g, '1');
      const { status, body } = await app.send<{ details: string }>(method, path, undefined, admin.headers);
      answers.add(`${policy} ${status} ${body.details}`);
    }
    const wanted = ['administrator', 'granting', 'member', 'sensitive'];
    expect([...answers].sort()).toEqual(wanted.map((policy) => `${policy} 403 totp_enrolment_required`));
    expect((await app.send<Me>('GET', '/auth/me', undefined, caller.headers)).body.totp_required).toBe(true);
    await enrol(caller);
    expect((await hosts(caller.headers)).status).toBe(200);
    expect((await post('/auth/totp/disable', { password: PASSWORD }, caller)).status).toBe(409);
    const byToken = { authorization: `Bearer ${token}` };
    expect((await app.send('DELETE', '/settings/auth.require_totp', undefined, byToken)).status).toBe(403);
    const bySession = enrolled.headers;
    expect((await app.send('DELETE', '/settings/auth.require_totp', undefined, bySession)).status).toBe(204);
    expect((await hosts(admin.headers)).status).toBe(200);
  });
});
