import type { Me, RecoveryCodes, TotpSecret } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromBase32 } from '../../testing/base32.ts';
import { type Caller, createGiven, PASSWORD } from '../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../testing/start-app.ts';
import { acceptTotp, hotp, stepOf, toBase32 } from './totp.ts';

/** RFC 6238, appendix B: time, and codes of eight digits for SHA-1, SHA-256 and SHA-512. */
const VECTORS: [number, string, string, string][] = [
  [59, '94287082', '46119246', '90693936'],
  [1_111_111_109, '07081804', '68084774', '25091201'],
  [1_111_111_111, '14050471', '67062674', '99943326'],
  [1_234_567_890, '89005924', '91819424', '93441116'],
  [2_000_000_000, '69279037', '90698825', '38618901'],
  [20_000_000_000, '65353130', '77737706', '47863826'],
];
const seed = (bytes: number) => Buffer.from('1234567890'.repeat(7).slice(0, bytes));

describe('one-time codes', () => {
  test.each(VECTORS)('are those of RFC 6238 at %i', (seconds, sha1, sha256, sha512) => {
    const step = stepOf(new Date(seconds * 1000));
    expect(hotp(seed(20), step, 8)).toBe(sha1);
    expect(hotp(seed(32), step, 8, 'sha256')).toBe(sha256);
    expect(hotp(seed(64), step, 8, 'sha512')).toBe(sha512);
  });

  test('are those of RFC 4226, appendix D', () => {
    const codes = Array.from({ length: 10 }, (_, counter) => hotp(seed(20), counter, 6));
    expect(codes).toEqual('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' '));
  });

  test('are accepted one step early or late, and never twice', () => {
    const now = new Date(1_800_000_000_000);
    const step = stepOf(now);
    const code = (offset: number) => hotp(seed(20), step + offset, 6);
    for (const offset of [-1, 0, 1]) expect(acceptTotp(seed(20), code(offset), 0, now)).toBe(step + offset);
    for (const offset of [-2, 2]) expect(acceptTotp(seed(20), code(offset), 0, now)).toBeUndefined();
    expect(acceptTotp(seed(20), code(0), step, now)).toBeUndefined();
    expect(acceptTotp(seed(20), code(-1), step, now)).toBeUndefined();
    expect(acceptTotp(seed(20), code(1), step, now)).toBe(step + 1);
    for (const bad of ['', '12345', '1234567', 'abcdef', '１２３４５６']) {
      expect(acceptTotp(seed(20), bad, 0, now)).toBeUndefined();
    }
  });

  test('have secrets in base32 (RFC 4648, section 10)', () => {
    const encoded = ['f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => toBase32(Buffer.from(text)));
    expect(encoded).toEqual(['MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']);
  });
});

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

  const code = (secret: Buffer) => hotp(secret, stepOf(new Date(now)), 6);
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
    expect(begun.body.otpauth_url).toContain(`secret=${begun.body.secret}&issuer=Sallyport`);
    const secret = fromBase32(begun.body.secret);
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
