import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { CreatedApiToken, Invite, RecoveryCodes, SignedIn, TotpSecret } from '@sallyport/contract';
import { createLog } from '@sallyport/deployment/log';
import { Secret } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { shownCode } from '../testing/authenticator.ts';
import { bearer } from '../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../testing/start-app.ts';

const SESSION_SECRET = 'session-secret-of-this-deployment-0123456789';
const ENCRYPTION_KEY = 'encryption-key-of-this-deployment-0123456789';
const PASSWORDS = [
  'first-password-9c1f',
  'second-password-77ab',
  'third-password-e0d2',
  'wrong-password-5b3a',
] as const;
const SMTP_PASSWORD = 'smtp-password-4d5e';
/** Hashes and sealed texts: what stands for a secret in the store. */
const STORED_FORM = /\$argon2id|v1\.[0-9a-f]{8}\./;

onBothDatabases('secrets', (kind) => {
  let app: TestApp;
  const logged: string[] = [];
  /** Everything that was answered, but for the one answer that is there to show the secret. */
  const answered: string[] = [];
  const secrets = new Map<string, string>();

  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await app.send(method, path, body, headers);
    answered.push(`${JSON.stringify(answer.body)} ${[...answer.headers].join(' ')}`);
  };
  /** For the one answer that shows a secret. */
  const reveal = async <T>(method: string, path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await app.send<T>(method, path, body, headers);
    expect(answer.status, path).toBeLessThan(300);
    return answer.body;
  };

  beforeAll(async () => {
    const sink = new Writable({
      write(chunk, _encoding, done) {
        logged.push(String(chunk));
        done();
      },
    });
    let setupToken = '';
    app = await startApp(
      kind,
      { SALLYPORT_SESSION_SECRET: SESSION_SECRET, SALLYPORT_ENCRYPTION_KEY: ENCRYPTION_KEY },
      {
        log: createLog('test', 'trace', sink),
        announceSetupToken(token) {
          setupToken = token;
        },
      },
    );
    const [first, second, third, wrong] = PASSWORDS;
    for (const [index, password] of PASSWORDS.entries()) secrets.set(`password ${index}`, password);
    secrets.set('session secret', SESSION_SECRET);
    secrets.set('encryption key', ENCRYPTION_KEY);
    secrets.set('smtp password', SMTP_PASSWORD);
    secrets.set('setup token', setupToken);

    await send('POST', '/setup', { email: 'admin@example.com', password: 'short', setup_token: 'x' });
    const admin = await reveal<SignedIn>('POST', '/setup', { email: 'admin@example.com', password: first });
    secrets.set('session token', admin.token);
    const headers = bearer(admin.token);
    const { token } = await reveal<CreatedApiToken>('POST', '/tokens', { name: 'ci', role: 'admin' }, headers);
    secrets.set('API token', token);
    const invite = await reveal<Invite>('POST', '/users/invite', { email: 'new@example.com' }, headers);
    const inviteToken = new URL(invite.invite_url).searchParams.get('token') ?? '';
    secrets.set('invitation', inviteToken);
    await send('GET', `/invite/validate?token=${inviteToken}`);
    await send('GET', `/invite/validate?token=${inviteToken}x`);
    await send('POST', '/invite/accept', { token: inviteToken, password: second, name: 'New' });
    await send('POST', '/invite/accept', { token: inviteToken, password: second });

    for (const [key, value] of [
      ['smtp.password', SMTP_PASSWORD],
      ['smtp.host', '127.0.0.1'],
      ['smtp.port', '1'],
      ['smtp.from', 'proxy@example.com'],
    ]) {
      await send('POST', '/settings', { key, value }, headers);
    }
    await send('POST', '/settings/test-mail', {}, headers);

    await send('POST', '/auth/login', { email: 'admin@example.com', password: wrong });
    await send('POST', '/auth/login', { email: wrong, password: wrong });
    await send('POST', '/auth/login', `{"email":"a@example.com","password":"${wrong}"`);
    await send('POST', '/auth/login', { email: 'a@example.com', password: [wrong] });
    await send('POST', '/auth/change-password', { current_password: wrong, new_password: third }, headers);
    await send('POST', '/users', { email: 'third@example.com', password: third }, headers);
    await send('POST', '/users', { email: 'third@example.com', password: third }, headers);
    await send('PUT', `/users/${invite.user.id}`, { password: third }, headers);

    const totp = await reveal<TotpSecret>('POST', '/auth/totp/setup', { password: first }, headers);
    secrets.set('TOTP secret', totp.secret);
    secrets.set('TOTP secret, stored', Buffer.from(Secret.fromBase32(totp.secret).bytes).toString('base64'));
    const code = shownCode(totp.secret, new Date());
    const { recovery_codes } = await reveal<RecoveryCodes>('POST', '/auth/totp/enable', { code }, headers);
    secrets.set('recovery code', recovery_codes[0] ?? '');
    const login = { email: 'admin@example.com', password: first };
    await send('POST', '/auth/login', { ...login, recovery_code: `${recovery_codes[0]}x` });

    const pair = makeCertificate(['site.example.com']);
    secrets.set('private key', pair.key.split('\n')[1] ?? '');
    await send('POST', '/certificates/upload', uploadForm('site', pair), headers);
    await send('GET', '/proxy-hosts', undefined, bearer(`${token}x`));
    await send('GET', '/proxy-hosts', undefined, { cookie: `sallyport_session=${admin.token}x` });
    for (const line of app.routePolicies()) {
      const [method = '', path = ''] = line.split(' ');
      if (method !== 'GET' || /:|docs|live/.test(path)) continue;
      await send('GET', path.replace(/^\/api(\/v1)?/, ''), undefined, headers);
    }
  });
  afterAll(() => app.stop());

  const shownIn = (text: string): string[] =>
    [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);
  const leaks = (texts: readonly string[]) =>
    texts.filter((text) => shownIn(text).length > 0 || STORED_FORM.test(text)).map((text) => text.slice(0, 300));

  test('were all made, and can be found where they are', () => {
    expect([...secrets].filter(([, secret]) => secret.length < 8)).toEqual([]);
    expect(secrets.size).toBe(15);
    expect(shownIn([...secrets.values()].join(' '))).toHaveLength(15);
  });

  test('are in no answer', () => {
    expect(answered.length).toBeGreaterThan(40);
    expect(leaks(answered)).toEqual([]);
  });

  test('are in no log line', () => {
    expect(logged.length).toBeGreaterThan(0);
    expect(leaks(logged)).toEqual([]);
  });

  test('are in no file as they are, and no file is for other users of the machine', () => {
    const files = (directory: string): string[] =>
      readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
        const path = join(directory, entry.name);
        if (entry.isDirectory()) return files(path);
        return entry.isFile() ? [path] : [];
      });
    expect(statSync(app.dataDir).mode & 0o077).toBe(0);
    for (const path of files(app.dataDir)) {
      // HAProxy reads certificates with their keys from files of its own (contract.md, certificates).
      const isForProxy = path.startsWith(join(app.dataDir, 'haproxy'));
      const found = shownIn(readFileSync(path, 'latin1'));
      expect(
        found.filter((name) => !(isForProxy && name === 'private key')),
        path,
      ).toEqual([]);
    }
  });
});
