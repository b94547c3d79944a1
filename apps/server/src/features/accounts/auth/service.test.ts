import { setImmediate } from 'node:timers/promises';
import { newUserRow } from '@sallyport/store/accounts/users/service';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '@sallyport/store/actor';
import type { StoredUser } from '@sallyport/store/database/account-tables';
import type { Database } from '@sallyport/store/database/open';
import { createPasswordHasher } from '@sallyport/store/secrets/password-hasher';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { shownCode } from '../../../testing/authenticator.ts';
import { withStore } from '../../../testing/with-store.ts';
import { createAuth } from './service.ts';
import { createSessionTokens } from './session-token.ts';
import { createSessions } from './sessions.ts';
import { authStore } from './store.ts';
import { createThrottle } from './throttle.ts';
import { createSecondFactor } from './totp/second-factor.ts';

const PASSWORD = 'correct horse battery';
/** Of that password and of the next one, cheap to check. */
const HASH = '$argon2id$v=19$m=8,t=1,p=1$j3ax+Xw3smtZ95X0tj+9Rg$/weAoeQT5ce/S3JyDJUJI45SCQQPDRn4DqK7Bua8lpc';
const HASH_OF_FIRST = '$argon2id$v=19$m=8,t=1,p=1$nRZMTTQLkgAldY8i/KhLkg$tUadw+7AehyvMNTk1q/AiqVneVl5+Z7uTnshNkc7NAI';
const EMAIL = 'ann@example.com';
const outside: Actor = { ...systemActor('test'), identity: { kind: 'anonymous' }, ip: '192.0.2.1', isLocal: false };
const hasher = createPasswordHasher();

const makeGiven = async ({ kysely: db, transactAside }: Database) => {
  let now = Date.parse('2026-05-02T12:00:00.000Z');
  const clock = () => new Date(now);
  const noted: { action: string; after?: unknown }[] = [];
  const resources = new Set<string>();
  const note = async ({ action, resource, after, actor }: ChangeEntry) => {
    expect(actor.ip).toMatch(/^192\.0\.2\./);
    // As a store does, it takes a moment: who does not wait for it answers before it is written down.
    await setImmediate();
    resources.add(`${action} ${resource}`);
    noted.push({ action, ...(after ? { after } : {}) });
  };
  const record = (_tx: unknown, entry: ChangeEntry) => note(entry);
  const store = authStore(db);
  const vault = createVault('a key of the deployment that is long enough');
  const tokens = createSessionTokens(undefined, clock);
  const common = { db, transactAside, store: authStore, record, invalidate: () => {}, clock };
  const hooks = { whileChecked: async () => {}, isTotpRequired: false };
  const auth = createAuth({
    ...common,
    vault,
    note,
    throttle: createThrottle(clock),
    sessions: createSessions({ ...common, tokens }),
    hasher: {
      ...hasher,
      async verify(...args) {
        const isRight = await hasher.verify(...args);
        await hooks.whileChecked();
        return isRight;
      },
    },
  });
  const secondFactor = createSecondFactor({ ...common, ...auth, vault, isRequired: async () => hooks.isTotpRequired });
  const fields = { email: EMAIL, role: 'admin', status: 'active', password_hash: HASH } as const;
  const user = await store.insertUser(newUserRow(fields, clock().toISOString()));
  const identity = { kind: 'user', id: user.id, email: EMAIL, role: 'admin', sessionId: 'x' } as UserIdentity;
  return {
    auth,
    secondFactor,
    store,
    user,
    noted,
    resources,
    hooks,
    clock,
    signedIn: { ...outside, identity },
    pass(ms: number) {
      now += ms;
    },
    /** What became of it: `in`, or the status and details of the refusal. */
    login: async (more: object = {}, by: Partial<Actor> = {}) =>
      auth.login({ email: EMAIL, password: PASSWORD, ...more }, { ...outside, ...by }).then(
        () => 'in',
        ({ status, message }: { status: number; message: string }) => `${status} ${message}`,
      ),
    sessions: () => db.selectFrom('sessions').select('user_id').execute(),
    codesLeft: async () => (await db.selectFrom('recovery_codes').selectAll().execute()).length,
  };
};
const withGiven = (work: (given: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async (database) => {
    await work(await makeGiven(database));
  });

const WRONG = '401 Invalid email or password';
const MISSING = '401 Two-factor code required';
const WRONG_CODE = '401 Invalid two-factor code';
const TOO_MANY = '429 Too many failed attempts; try again later';

test.each<[string, Partial<StoredUser>]>([
  ['is disabled', { status: 'disabled' }],
  ['gets another password', { password_hash: 'another' }],
])('who %s while the password is checked is not signed in', (_what, patch) =>
  withGiven(async ({ login, store, user, hooks, sessions, noted }) => {
    hooks.whileChecked = () => store.updateUser(user.id, patch);
    expect(await login()).toBe(WRONG_CODE);
    expect(await sessions()).toEqual([]);
    expect(noted.map(({ action }) => action)).toEqual(['auth.login_failed']);
  }),
);

test('each refusal is written down with its reason, and no password that was typed for a name', () =>
  withGiven(async ({ login, store, user, noted }) => {
    expect(await login({ email: 'my secret password' })).toBe(WRONG);
    expect(await login({ email: 'Bob@Example.com' })).toBe(WRONG);
    expect(await login({ password: 'wrong password' })).toBe(WRONG);
    await store.updateUser(user.id, { status: 'disabled' });
    expect(await login()).toBe(WRONG);
    expect(noted.map(({ after }) => after)).toEqual([
      { email: '(not an e-mail address)', reason: 'unknown user' },
      { email: 'bob@example.com', reason: 'unknown user' },
      { email: EMAIL, reason: 'wrong password' },
      { email: EMAIL, reason: 'user is disabled' },
    ]);
  }));

test('what could not be tried is no failure', () =>
  withGiven(async ({ login, hooks, noted, pass, resources, user }) => {
    hooks.whileChecked = () => Promise.reject(Object.assign(new Error('too busy'), { status: 429 }));
    for (let n = 0; n < 10; n++) expect(await login({ password: 'wrong password' })).toBe('429 too busy');
    hooks.whileChecked = async () => {};
    expect(await login()).toBe('in');
    // A success forgets what was wrong before it, and only that.
    for (let n = 0; n < 4; n++) expect(await login({ password: 'wrong password' })).toBe(WRONG);
    expect(await login()).toBe('in');
    for (let n = 0; n < 5; n++) expect(await login({ password: 'wrong password' })).toBe(WRONG);
    expect(await login()).toBe(TOO_MANY);
    expect(noted.at(-1)).toEqual({ action: 'auth.throttled', after: { email: EMAIL } });
    expect([...resources]).toEqual([
      `auth.login users/${user.id}`,
      'auth.login_failed auth/login',
      'auth.throttled auth/login',
    ]);
    expect(await login({}, { ip: '192.0.2.2' })).toBe('in');
    pass(15 * 60_000);
    expect(await login()).toBe('in');
  }));

test('a secret of nobody is guessed at five times from one address, which keeps nobody out elsewhere', () =>
  withGiven(async ({ auth, noted, resources }) => {
    const guess = (ip = outside.ip) =>
      auth.beginSecretAttempt('emergency', { ...outside, ip }).then(
        () => 'tried',
        ({ status }: { status: number }) => status,
      );
    for (let n = 0; n < 5; n++) expect(await guess()).toBe('tried');
    expect([await guess(), await guess('192.0.2.2')]).toEqual([429, 'tried']);
    expect([noted, [...resources]]).toEqual([[{ action: 'auth.throttled' }], ['auth.throttled emergency']]);
    (await auth.beginSecretAttempt('emergency', { ...outside, ip: '192.0.2.3' })).succeeded();
  }));

test('the second factor: being asked for it is no failure and leaves a trace, a wrong code is one, and none counts twice', () =>
  withGiven(
    async ({
      login,
      secondFactor,
      signedIn,
      clock,
      noted,
      pass,
      hooks,
      codesLeft,
      store,
      user,
      sessions,
      resources,
    }) => {
      const { secret } = await secondFactor.begin({ password: PASSWORD }, signedIn);
      expect(await login()).toBe('in');
      const { recovery_codes } = await secondFactor.enable({ code: shownCode(secret, clock()) }, signedIn);
      noted.length = 0;
      for (let n = 0; n < 8; n++) expect(await login()).toBe(MISSING);
      expect(noted).toEqual(Array(8).fill({ action: 'auth.totp_asked', after: { email: EMAIL } }));
      expect([...resources]).toContain('auth.totp_asked auth/login');
      // The one that enabled it is used up.
      expect(await login({ totp_code: shownCode(secret, clock()) })).toBe(WRONG_CODE);
      pass(30_000);
      const code = shownCode(secret, clock());
      expect(await login({ totp_code: code })).toBe('in');
      expect(await login({ totp_code: code })).toBe(WRONG_CODE);
      expect(await login({ recovery_code: recovery_codes[0] })).toBe('in');
      expect(await login({ recovery_code: recovery_codes[0] })).toBe(WRONG_CODE);
      expect(await codesLeft()).toBe(9);
      expect(await sessions()).toHaveLength(3);
      // Both are asked for: who has the code needs the password all the same.
      pass(30_000);
      expect(await login({ password: 'wrong password', totp_code: shownCode(secret, clock()) })).toBe(WRONG);
      for (let n = 0; n < 3; n++) expect(await login({ totp_code: '000000' })).toBe(WRONG_CODE);
      expect(await login({ totp_code: shownCode(secret, clock()) })).toBe(TOO_MANY);
      pass(15 * 60_000);
      hooks.isTotpRequired = true;
      await expect(secondFactor.disable({ password: PASSWORD }, signedIn)).rejects.toMatchObject({ status: 409 });
      expect(await login()).toBe(MISSING);
      hooks.isTotpRequired = false;
      await secondFactor.disable({ password: PASSWORD }, signedIn);
      expect(noted.at(-1)).toEqual({ action: 'auth.totp_disabled' });
      expect(await login()).toBe('in');
      expect([await codesLeft(), (await store.find(user.id))?.totp_sealed]).toEqual([0, null]);
    },
  ));

test('setting the second factor up takes the password and a right code, each guessed at five times at most', () =>
  withGiven(async ({ secondFactor, signedIn, clock, store, user, noted, pass }) => {
    const refused = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        ({ status }: { status: number }) => status,
      );
    const begin = (password = PASSWORD) => secondFactor.begin({ password }, signedIn);
    expect(await refused(secondFactor.renewRecoveryCodes({ password: PASSWORD }, signedIn))).toBe(409);
    expect(await refused(secondFactor.enable({ code: '000000' }, signedIn))).toBe(409);
    for (let n = 0; n < 4; n++) expect(await refused(begin('wrong password'))).toBe(403);
    expect(noted.at(-1)).toEqual({ action: 'auth.password_refused' });
    expect(await refused(begin())).toBe(429);
    pass(15 * 60_000);
    const { secret } = await begin();
    // Begun anew it is another one.
    const again = await begin();
    expect(again.secret).not.toBe(secret);
    expect(await refused(secondFactor.enable({ code: shownCode(secret, clock()) }, signedIn))).toBe(400);
    for (let n = 0; n < 4; n++) expect(await refused(secondFactor.enable({ code: '000000' }, signedIn))).toBe(400);
    expect(await refused(secondFactor.enable({ code: shownCode(again.secret, clock()) }, signedIn))).toBe(429);
    pass(15 * 60_000);
    expect((await store.find(user.id))?.totp_enabled).toBe(0);
    // A right code forgets what was wrong before it.
    for (let n = 0; n < 4; n++) expect(await refused(secondFactor.enable({ code: '000000' }, signedIn))).toBe(400);
    await secondFactor.enable({ code: shownCode(again.secret, clock()) }, signedIn);
    expect(noted.at(-1)).toEqual({ action: 'auth.totp_enabled' });
    expect(await refused(begin('wrong password'))).toBe(403);
    expect(await refused(begin())).toBe(409);
    expect(await refused(secondFactor.enable({ code: shownCode(again.secret, clock()) }, signedIn))).toBe(409);
  }));

test('of two changes of a password the one that was proved by the former one counts, and ends every session', () =>
  withGiven(async ({ auth, signedIn, login, store, user, hooks, sessions }) => {
    await login();
    const change = (new_password: string) =>
      auth.changePassword({ current_password: PASSWORD, new_password }, signedIn);
    hooks.whileChecked = () => store.updateUser(user.id, { password_hash: HASH_OF_FIRST });
    await expect(change('the second one')).rejects.toMatchObject({ status: 409 });
    hooks.whileChecked = async () => {};
    expect(await sessions()).toHaveLength(1);
    await expect(change('the third one')).rejects.toMatchObject({ status: 403 });
    await auth.changePassword({ current_password: 'the first one', new_password: 'the fourth one' }, signedIn);
    expect(await sessions()).toEqual([]);
    expect([await login({ password: 'the first one' }), await login({ password: 'the fourth one' })]).toEqual([
      WRONG,
      'in',
    ]);
  }));

test('who is not signed in has no account of their own', () =>
  withGiven(async ({ auth, secondFactor, signedIn, user }) => {
    expect(await auth.me(signedIn)).toMatchObject({ user: { id: user.id, email: EMAIL } });
    const token = { ...signedIn, identity: { ...signedIn.identity, sessionId: null } };
    await expect(auth.me(outside)).rejects.toMatchObject({ status: 401 });
    for (const [actor, status] of [
      [outside, 401],
      [token, 403],
    ] as const) {
      await expect(secondFactor.begin({ password: PASSWORD }, actor)).rejects.toMatchObject({ status });
      await expect(secondFactor.disable({ password: PASSWORD }, actor)).rejects.toMatchObject({ status });
      const change = { current_password: PASSWORD, new_password: 'another password' };
      await expect(auth.changePassword(change, actor)).rejects.toMatchObject({ status });
    }
  }));
