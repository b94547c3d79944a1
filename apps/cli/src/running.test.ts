import { createGiven } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sallyport as run } from '../../../test/support/sallyport-command.ts';

describe('beside a running server', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp('sqlite');
    await createGiven(app).administrator();
  });
  afterAll(() => app.stop());

  const cli = (args: string[], input?: string) =>
    run(app.dataDir, args, {
      ...(input === undefined ? {} : { input }),
      env: { SALLYPORT_HTTP_BIND: new URL(app.url).host },
    });

  test('sees it', async () => {
    expect(await cli(['status'])).toMatchObject({ code: 0, out: expect.stringContaining(`answering at ${app.url}`) });
  });

  test('makes tokens that it takes at once, and revokes them within a second', async () => {
    const made = await cli(['token', 'create', '--user', 'admin@example.com', '--name', 'ci', '--role', 'admin']);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^sp_[\w-]{43}\n$/) });
    const headers = { authorization: `Bearer ${made.out.trim()}` };
    const status = async () => (await app.send('GET', '/users', undefined, headers)).status;
    expect(await status()).toBe(200);
    expect((await cli(['token', 'list'])).out).toMatch(/1\s+ci\s+admin\s+admin@example\.com/);
    expect((await cli(['token', 'revoke', '1'])).code).toBe(0);
    await vi.waitFor(async () => expect(await status()).toBe(401), { timeout: 45_000, interval: 50 });
  });

  test('lists what was changed, and takes it back with the checks of the server', async () => {
    const { headers } = await createGiven(app).signIn('admin@example.com');
    const host = { domain: 'one.example.com', forward_host: '192.0.2.1', forward_port: 80 };
    const { body } = await app.send<{ uuid: string }>('POST', '/proxy-hosts', host, headers);
    await app.send('POST', '/settings', { key: 'smtp.password', value: 'a secret of ours' }, headers);
    await app.send('PUT', `/proxy-hosts/${body.uuid}`, { forward_port: 81 }, headers);
    const port = async () =>
      (await app.send<{ forward_port?: number }>('GET', `/proxy-hosts/${body.uuid}`, undefined, headers)).body
        .forward_port;
    const resource = `proxy-hosts/${body.uuid}`;
    const all = await cli(['history', 'list']);
    expect(all).toMatchObject({ code: 0, err: '' });
    expect(all.out).toMatch(/settings\/smtp\.password/);
    expect(all.out).not.toContain('a secret of ours');
    const [changed = '', made = '', ...rest] = (await cli(['history', 'list', '--resource', `/${resource}/`])).out
      .split('\n')
      .slice(1, -1);
    expect(rest).toEqual([]);
    expect(changed).toMatch(
      new RegExp(`^\\d+ +\\S+Z +admin@example\\.com +proxy_host\\.update +${resource} +forward_port `),
    );
    expect(made).toMatch(/proxy_host\.create .* made +[0-9a-f-]{36}$/);
    expect((await cli(['history', 'list', '--limit', '1'])).out.trim().split('\n')).toHaveLength(2);

    const [id = ''] = changed.split(' ');
    expect(await cli(['history', 'revert', id])).toEqual({
      code: 0,
      out: 'taken back, as admin@example.com\n',
      err: '',
    });
    expect(await port()).toBe(80);
    const again = await cli(['history', 'revert', id]);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is as it was before') });
    expect((await cli(['history', 'list', '--limit', '1'])).out).toContain(`forward_port (takes back ${id})`);
    const batch = made.split(' ').at(-1) ?? '';
    // Changed since: a batch goes back as a whole, or not at all.
    await app.send('PUT', `/proxy-hosts/${body.uuid}`, { forward_port: 82 }, headers);
    expect((await cli(['history', 'revert', batch])).err).toContain('It has been changed since: forward_port');
    await app.send('PUT', `/proxy-hosts/${body.uuid}`, { forward_port: 80 }, headers);
    const whole = await cli(['history', 'revert', batch, '--user', 'Admin@Example.com']);
    expect(whole).toEqual({ code: 0, out: `${resource}\ntaken back, as admin@example.com\n`, err: '' });
    expect((await cli(['history', 'revert', '1', '--user', 'nobody@example.com'])).err).toContain(
      'no active administrator',
    );
    // What it signs in with is gone at once.
    expect((await cli(['token', 'list'])).out).not.toContain('history');
  });

  test('lets an administrator back in who lost password and second factor', async () => {
    const given = createGiven(app);
    const caller = await given.signIn('admin@example.com');
    const reset = await cli(
      ['user', 'reset-password', 'admin@example.com', '--password-stdin', '--clear-totp'],
      'a new password',
    );
    expect(reset).toMatchObject({ code: 0, out: 'password of admin@example.com set\n', err: '' });
    const me = async () => (await app.send('GET', '/auth/me', undefined, caller.headers)).status;
    await vi.waitFor(async () => expect(await me()).toBe(401), { timeout: 45_000, interval: 50 });
    expect((await given.signIn('admin@example.com', 'a new password')).user.role).toBe('admin');
  });

  test('rotates the key under it', async () => {
    const { headers } = await createGiven(app).signIn('admin@example.com', 'a new password');
    const set = (value: string) => app.send('POST', '/settings', { key: 'smtp.password', value }, headers);
    expect((await set('one')).status).toBe(200);
    expect((await cli(['keys', 'rotate'])).code).toBe(0);
    expect((await set('two')).status).toBe(200);
    expect((await cli(['audit', 'verify'])).code).toBe(0);
    const [, kept = ''] = /^(\w{8}) kept/m.exec((await cli(['keys', 'list'])).out) ?? [];
    expect((await cli(['keys', 'forget', kept])).code).toBe(0);
    expect((await set('three')).status).toBe(200);
  });
});
