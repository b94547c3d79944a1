import type { ErrorBody, NotificationSettings } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const SETTINGS = '/security/notifications/settings';

onBothDatabases('notification settings', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());
  const put = (body: unknown) => app.send<{ message: string } & ErrorBody>('PUT', SETTINGS, body);
  const get = () => app.send<NotificationSettings>('GET', SETTINGS);

  test('are 404 before they were ever configured, or the defaults for who asks', async () => {
    expect(await get()).toMatchObject({ status: 404, body: { error: 'Notification settings not configured' } });
    expect(await app.send('GET', `${SETTINGS}?defaults=true`)).toMatchObject({
      status: 200,
      body: { enabled: false, min_log_level: 'warn', webhook_secret_set: false },
    });
    expect((await get()).status).toBe(404);
    expect((await app.send('POST', '/security/notifications/test')).status).toBe(404);
  });

  test.each([
    [{ min_log_level: 'fatal' }, 'Invalid min_log_level. Must be one of: debug, info, warn, error'],
    [{ min_log_level: '' }, 'Invalid min_log_level. Must be one of: debug, info, warn, error'],
    [{ min_log_level: 3 }, 'Invalid min_log_level. Must be one of: debug, info, warn, error'],
    [{ min_log_level: null }, 'Invalid min_log_level. Must be one of: debug, info, warn, error'],
    [{ min_log_level: 'e'.repeat(40) }, 'Invalid min_log_level. Must be one of: debug, info, warn, error'],
    [
      { webhook_url: 'https://169.254.169.254/latest' },
      'Invalid webhook URL: URL resolves to a private IP address (blocked for security)',
    ],
    [
      { webhook_url: 'https://[fd00::1]/' },
      'Invalid webhook URL: URL resolves to a private IP address (blocked for security)',
    ],
    [{ webhook_url: 'http://8.8.8.8/' }, 'Invalid webhook URL: only https:// URLs are supported'],
    [{ webhook_url: 'hook' }, 'Invalid webhook URL: invalid URL format'],
    [{ enabled: 1 }, 'enabled must be a boolean'],
    [{ email_recipients: 'a@example.com, nobody' }, 'email_recipients "nobody" must be a valid e-mail address'],
    [{ email_recipients: 'a@example.com\r\nBcc: b@example.com' }, 'email_recipients'],
    [{ webhook_format: 'telegram' }, 'webhook_format must be one of: auto, generic, discord, slack, gotify, template'],
    [{ webhook_format: 'template' }, 'webhook_template is required when webhook_format is template'],
    [{ webhook_template: '{"a": {{Title}}}' }, 'webhook_template must be valid JSON'],
    [{ webhook_template: '{"a": "{{Password}}"}' }, 'webhook_template has an unknown variable'],
  ])('refuse %j', async (body, message) => {
    const answer = await put(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(message);
    expect((await get()).status).toBe(404);
  });

  test('update only what is given, and never show the secret', async () => {
    expect(await put({ enabled: true, min_log_level: 'error' })).toMatchObject({
      status: 200,
      body: { message: expect.any(String) },
    });
    const first = {
      enabled: true,
      min_log_level: 'error',
      notify_waf_blocks: true,
      notify_acl_denials: true,
      notify_rate_limit_hits: true,
      webhook_url: '',
      email_recipients: '',
      webhook_format: 'auto',
      webhook_template: '',
      webhook_secret_set: false,
    };
    expect((await get()).body).toEqual(first);
    await put({ notify_acl_denials: false, webhook_secret: 'hush', email_recipients: ' A@Example.com,b@example.com ' });
    const second = {
      ...first,
      notify_acl_denials: false,
      webhook_secret_set: true,
      email_recipients: 'a@example.com,b@example.com',
    };
    expect((await get()).body).toEqual(second);
    expect((await put(second)).status).toBe(200);
    await app.restart();
    expect((await get()).body).toEqual(second);
    await put({ webhook_secret: '' });
    expect((await get()).body.webhook_secret_set).toBe(false);
  });
});

onBothDatabases('notification settings in other hands', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());

  test('a standard user neither sees the webhook, which is a credential, nor changes anything', async () => {
    const given = createGiven(app);
    const [administrator, user] = [await given.administrator(), await given.caller('user')];
    const webhook_url = 'https://8.8.8.8/services/T000/B000/secret';
    await app.send('PUT', SETTINGS, { webhook_url }, administrator.headers);
    await app.send('POST', '/security/config', { webhook_url }, administrator.headers);
    for (const path of [SETTINGS, '/security/config']) {
      expect(JSON.stringify((await app.send('GET', path, undefined, administrator.headers)).body)).toContain('T000');
      const seen = await app.send('GET', path, undefined, user.headers);
      expect(seen.status).toBe(200);
      expect(JSON.stringify(seen.body)).not.toContain('T000');
    }
    expect(await app.send('PUT', SETTINGS, { enabled: true }, user.headers)).toMatchObject({
      status: 403,
      body: { error: 'Admin access required' },
    });
  });

  test('a store that fails is a 500 that says so, and no more than that', async () => {
    const database = openDatabase(app.config);
    await database.kysely.schema.dropTable('notification_settings').execute();
    await database.stop();
    expect(await app.send('PUT', SETTINGS, { enabled: true })).toMatchObject({
      status: 500,
      body: { error: 'Failed to update settings', code: 500 },
    });
  });
});
