import { newUserRow } from '@sallyport/store/accounts/users/service';
import { userStore } from '@sallyport/store/accounts/users/store';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '@sallyport/store/actor';
import type { Database } from '@sallyport/store/database/open';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createInvites } from '../invites/service.ts';
import { inviteStore } from '../invites/store.ts';
import { createSessionTokens } from './session-token.ts';
import { createSessions } from './sessions.ts';
import { createSetup } from './setup.ts';
import { authStore } from './store.ts';
import { hashRecoveryCode, newRecoveryCodes } from './totp/recovery-codes.ts';

const START = Date.parse('2026-05-02T12:00:00.500Z');
const HOUR_MS = 3_600_000;
const outside: Actor = {
  ...systemActor('test'),
  identity: { kind: 'anonymous' },
  ip: '192.0.2.1',
  userAgent: `a\0b${'c'.repeat(300)}`,
  isLocal: false,
};
const local: Actor = { ...outside, isLocal: true };

const makeGiven = async (database: Database) => {
  const { kysely: db, transactAside } = database;
  let now = START;
  const clock = () => new Date(now);
  const recorded: [string, string, string][] = [];
  const record = async (_tx: unknown, { action, resource, actor, before, after }: ChangeEntry) => {
    const { identity } = actor;
    // Everybody who may read the trail would have it.
    expect(JSON.stringify({ before, after })).not.toMatch(/password_hash|totp_sealed|token_hash/);
    recorded.push([action, resource, identity.kind === 'user' ? identity.email : identity.kind]);
  };
  let forgotten = 0;
  const invalidate = () => void forgotten++;
  const common = { db, transactAside, store: authStore, record, invalidate, clock };
  const tokens = createSessionTokens('a secret of the deployment, long enough', clock);
  const sessions = createSessions({ ...common, tokens });
  const hasher = { hash: async (password: string) => `hash of ${password}` };
  const attempts: string[] = [];
  const noted: string[] = [];
  const setup = createSetup({
    ...common,
    hasher,
    sessions,
    beginAttempt: async (account) => {
      attempts.push(account);
      return { succeeded: () => void attempts.push('right') };
    },
    noteFailure: async ({ action, resource }) => void noted.push(`${action} ${resource}`),
  });
  const mails: { to: string; text: string }[] = [];
  const given = { publicUrl: '', isMailTaken: true };
  const invites = createInvites({
    ...common,
    users: userStore,
    invites: inviteStore,
    hasher,
    async sendMail(mail) {
      mails.push(mail);
      return given.isMailTaken;
    },
    publicUrl: async () => given.publicUrl,
    localUrl: () => 'http://127.0.0.1:81',
  });
  const store = authStore(db);
  const addUser = (email: string) =>
    store.insertUser(
      newUserRow({ email, role: 'user', status: 'active', password_hash: 'x' } as const, clock().toISOString()),
    );
  return {
    ...{ db, store, sessions, tokens, setup, invites, recorded, attempts, noted, mails, given, addUser },
    forgotten: () => forgotten,
    pass(ms: number) {
      now += ms;
    },
    open: (user: Awaited<ReturnType<typeof addUser>>) =>
      transactAside((tx) => sessions.open(tx, user, outside, 'auth.login')),
    /** Who came in with that token. */
    async by(token: string, email: string): Promise<Actor & { identity: UserIdentity }> {
      const claims = await tokens.read(token);
      const identity = { kind: 'user', id: claims!.userId, email, sessionId: claims!.sessionId } as UserIdentity;
      return { ...outside, identity };
    },
  };
};
const withGiven = (work: (given: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async (database) => {
    await work(await makeGiven(database));
  });

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
  );

test('a session lasts a day, is written down with whose it is, and can be ended by nobody else', () =>
  withGiven(async ({ sessions, store, addUser, open, by, recorded, forgotten, pass, tokens }) => {
    const [ann, bob] = [await addUser('ann@example.com'), await addUser('bob@example.com')];
    const first = await open(ann);
    expect(first).toMatchObject({
      expires_at: '2026-05-03T12:00:00.000Z',
      user: { email: 'ann@example.com', last_login: '2026-05-02T12:00:00.500Z' },
    });
    expect((await store.find(ann.id))?.last_login).toBe('2026-05-02T12:00:00.500Z');
    expect(recorded).toEqual([['auth.login', `users/${ann.id}`, 'ann@example.com']]);
    pass(HOUR_MS);
    const second = await open(ann);
    const [one, other] = [await by(first.token, ann.email), await by((await open(bob)).token, bob.email)];
    const { rows } = await sessions.list({}, one);
    expect(rows).toEqual([
      expect.objectContaining({ is_current: false, created_at: '2026-05-02T13:00:00.500Z' }),
      {
        id: one.identity.sessionId,
        ip: '192.0.2.1',
        user_agent: `ab${'c'.repeat(253)}`,
        created_at: '2026-05-02T12:00:00.500Z',
        last_seen_at: '2026-05-02T12:00:00.500Z',
        expires_at: '2026-05-03T12:00:00.000Z',
        is_current: true,
      },
    ]);
    const ofSecond = rows[0]!.id;
    const found = async (search: string) => (await sessions.list({ search }, one)).rows.length;
    expect([await found('192.0.2'), await found('abccc'), await found('2026-05')]).toEqual([2, 2, 0]);
    expect(await refusal(sessions.revoke(ofSecond, other))).toBe('404 Session not found');
    expect(forgotten()).toBe(0);
    await sessions.revoke(ofSecond, one);
    expect([forgotten(), recorded.at(-1)]).toEqual([
      1,
      ['auth.session_revoked', `auth/sessions/${ofSecond}`, 'ann@example.com'],
    ]);
    expect(await store.liveSession(ofSecond, ann.id)).toBeUndefined();
    // Of another user, or of another key, it is none.
    expect(await store.liveSession(one.identity.sessionId!, bob.id)).toBeUndefined();
    expect(await store.sessionsOf(ann.id, 'another key', '')).toEqual([]);
    await sessions.logout(one);
    expect([forgotten(), recorded.at(-1)]).toEqual([2, ['auth.logout', `users/${ann.id}`, 'ann@example.com']]);
    expect(await store.sessionsOf(ann.id, tokens.keyId, '')).toEqual([]);
    expect((await sessions.list({}, other)).rows).toHaveLength(1);
    for (const work of [sessions.list({}, outside), sessions.revoke('x', outside), sessions.logout(outside)])
      expect(await refusal(work)).toMatch(/^401/);
    expect((await by(second.token, ann.email)).identity.id).toBe(ann.id);
  }));

test('what is over is removed, and of fifty-one the oldest; others keep theirs', () =>
  withGiven(async ({ sessions, store, addUser, open, by, pass, tokens, db }) => {
    const [ann, bob] = [await addUser('ann@example.com'), await addUser('bob@example.com')];
    await open(bob);
    const oldest = await by((await open(ann)).token, ann.email);
    for (let n = 0; n < 50; n++) {
      pass(1_000);
      await open(ann);
    }
    const all = await store.sessionsOf(ann.id, tokens.keyId, new Date(START).toISOString());
    expect([all.length, all.some(({ id }) => id === oldest.identity.sessionId)]).toEqual([50, false]);
    expect(await store.sessionsOf(bob.id, tokens.keyId, '')).toHaveLength(1);
    pass(24 * HOUR_MS);
    expect((await sessions.list({}, oldest)).rows).toEqual([]);
    await open(bob);
    expect(await db.selectFrom('sessions').select('user_id').execute()).toEqual([{ user_id: bob.id }]);
  }));

const SETUP = { email: 'Admin@Example.com', password: 'correct horse battery', name: 'First' };

test('from elsewhere the first administrator is made with the token that was shown, and only one is', () =>
  withGiven(async ({ setup, attempts, noted, recorded, forgotten, store }) => {
    const shown: string[] = [];
    await setup.announce((token) => shown.push(token));
    const [setup_token = ''] = shown;
    expect(setup_token).toMatch(/^[0-9a-f]{32}$/);
    const required = '401 setup_token is required from other hosts; it is printed at start-up';
    for (const wrong of [undefined, '', `${setup_token}0`, setup_token.slice(1)])
      expect(
        await refusal(setup.complete({ ...SETUP, ...(wrong === undefined ? {} : { setup_token: wrong }) }, outside)),
      ).toBe(required);
    expect([attempts, noted]).toEqual([Array(4).fill('(setup)'), Array(4).fill('auth.setup_refused setup')]);
    expect([await setup.state(), forgotten()]).toEqual([{ setup_required: true }, 0]);
    const { user } = await setup.complete({ ...SETUP, setup_token }, outside);
    expect(user).toMatchObject({ email: 'admin@example.com', role: 'admin', status: 'active' });
    expect((await store.find(user.id))?.password_hash).toBe('hash of correct horse battery');
    expect([attempts.at(-1), forgotten(), recorded]).toEqual([
      'right',
      1,
      [['auth.setup', `users/${user.id}`, 'admin@example.com']],
    ]);
    expect(await setup.state()).toEqual({ setup_required: false });
    await setup.announce((token) => shown.push(token));
    expect(shown).toHaveLength(1);
    expect(await refusal(setup.complete({ ...SETUP, setup_token }, outside))).toBe('403 Setup is already complete');
  }));

test('on the machine itself no token is asked for, and of two at once one wins', () =>
  withGiven(async ({ setup, attempts, addUser, store, forgotten }) => {
    const pending = await addUser('invited@example.com');
    await store.updateUser(pending.id, { role: 'admin', status: 'pending' });
    expect(await setup.state()).toEqual({ setup_required: true });
    const answers = await Promise.all(
      ['a@example.com', 'b@example.com'].map((email) => refusal(setup.complete({ ...SETUP, email }, local))),
    );
    expect(answers.sort()).toEqual(['403 Setup is already complete', 'done']);
    // What is known of credentials is forgotten once, when there is another one.
    expect([attempts, forgotten()]).toEqual([[], 1]);
  }));

test('an invitation opens once, for two days, and the newest only', () =>
  withGiven(async ({ invites, store, mails, given, pass, recorded, forgotten }) => {
    const tokenOf = (link: string | undefined) => new URL(link ?? '').searchParams.get('token') ?? '';
    const byMail = () => tokenOf(/http\S+/.exec(mails.at(-1)?.text ?? '')?.[0]);
    const accept = (token: string) =>
      invites.accept({ token, name: ' Ann ', password: 'correct horse battery' }, outside);
    given.publicUrl = 'https://panel.example.com';
    const { user, invite_url, email_sent } = await invites.create({ email: 'Ann@Example.com' }, outside);
    const first = byMail();
    expect([tokenOf(invite_url), email_sent]).toEqual([first, true]);
    expect([mails.at(-1)?.to, user.status, user.role]).toEqual(['ann@example.com', 'pending', 'user']);
    expect(await refusal(invites.create({ email: 'ann@example.com' }, outside))).toMatch(/^409/);
    expect(await invites.validate(first)).toEqual({ valid: true, email: 'ann@example.com' });
    await invites.resend(user.id, outside);
    const second = byMail();
    expect(second).not.toBe(first);
    expect(await refusal(accept(first))).toMatch(/^4\d\d/);
    expect(await refusal(accept('x'))).toBe('404 Invitation not found');
    pass(48 * HOUR_MS);
    expect(await refusal(accept(second))).toBe('410 The invitation has expired');
    await invites.resend(user.id, outside);
    pass(48 * HOUR_MS - 1);
    const third = byMail();
    expect(await refusal(invites.accept({ token: third, password: 'short' }, outside))).toMatch(/^400/);
    expect([(await store.find(user.id))?.status, forgotten()]).toEqual(['pending', 0]);
    expect((await accept(third)).user).toMatchObject({ name: 'Ann', status: 'active' });
    expect([(await store.find(user.id))?.password_hash, forgotten()]).toEqual(['hash of correct horse battery', 1]);
    expect(await refusal(accept(third))).toBe('409 The invitation has already been used');
    expect(await refusal(invites.resend(user.id, outside))).toBe('400 User is not in pending status');
    expect(await refusal(invites.resend(4_711, outside))).toBe('404 User not found');
    expect(recorded.map(([action, resource]) => `${action} ${resource}`)).toEqual(
      ['user.invite', 'user.invite_resent', 'user.invite_resent', 'user.invite_accepted'].map(
        (action) => `${action} users/${user.id}`,
      ),
    );
    // Who was disabled meanwhile is not let in by an old link.
    const { user: bob } = await invites.create({ email: 'bob@example.com', role: 'admin' }, outside);
    expect(bob.role).toBe('admin');
    await store.updateUser(bob.id, { status: 'disabled' });
    expect(await refusal(accept(byMail()))).toBe('410 The invitation is no longer open');
  }));

test('a recovery code is ten random bytes, is known in any spelling, and opens once, for its own user only', () =>
  withGiven(async ({ store, addUser }) => {
    const codes = await newRecoveryCodes();
    expect([codes.length, new Set(codes).size]).toEqual([10, 10]);
    for (const code of codes) expect(code).toMatch(/^[a-z2-7]{4}(?:-[a-z2-7]{4}){3}$/);
    const [code = '', next = ''] = codes;
    expect(hashRecoveryCode(code.toUpperCase().replaceAll('-', ' '))).toBe(hashRecoveryCode(code));
    expect(hashRecoveryCode(next)).not.toBe(hashRecoveryCode(code));
    const [ann, bob] = [await addUser('ann@example.com'), await addUser('bob@example.com')];
    await store.setRecoveryCodes(ann.id, codes.map(hashRecoveryCode));
    await store.setRecoveryCodes(bob.id, [hashRecoveryCode(next)]);
    const take = (id: number, text: string) => store.takeRecoveryCode(id, hashRecoveryCode(text));
    expect([await take(bob.id, code), await take(ann.id, code), await take(ann.id, code)]).toEqual([
      false,
      true,
      false,
    ]);
    // New ones replace what is left.
    await store.setRecoveryCodes(ann.id, []);
    expect([await take(ann.id, next), await take(bob.id, next)]).toEqual([false, true]);
  }));
