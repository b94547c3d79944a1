import type { NotificationTest } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { startSmtpServer } from '../../../../../../test/support/smtp-server.ts';
import { guardBlock, sendLines } from '../../../testing/guard-line.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('notifications by mail', (kind) => {
  let app: TestApp;
  let smtp: Awaited<ReturnType<typeof startSmtpServer>>;
  let bearer: Record<string, string>;
  beforeAll(async () => {
    smtp = await startSmtpServer((recipient) => recipient.startsWith('nobody@'));
    app = await startApp(kind);
    const credentials = { email: 'admin@example.com', password: 'a long enough password' };
    const { token } = (await app.send<{ token: string }>('POST', '/setup', credentials)).body;
    bearer = { authorization: `Bearer ${token}` };
    await app.send('PUT', '/security/notifications/settings', {
      enabled: true,
      email_recipients: 'one@example.com, two@example.com',
    });
  });
  afterAll(async () => {
    await app.stop();
    await smtp.stop();
  });

  const tryMail = async () => (await app.send<NotificationTest>('POST', '/security/notifications/test')).body.email;

  test('are not sent before a mail server is configured, and say so', async () => {
    expect(await tryMail()).toEqual({
      attempted: true,
      delivered: false,
      error: 'mail was not sent to 2 of 2 recipients',
    });
    for (const [key, value] of [
      ['smtp.host', '127.0.0.1'],
      ['smtp.port', String(smtp.port)],
      ['smtp.security', 'none'],
      ['smtp.from', 'sallyport@example.com'],
    ]) {
      expect((await app.send('POST', '/settings', { key, value }, bearer)).status).toBe(200);
    }
    expect(await tryMail()).toEqual({ attempted: true, delivered: true, error: '' });
    expect(smtp.mails.map(({ to }) => to).sort()).toEqual([['one@example.com'], ['two@example.com']]);
  });

  test('go to each recipient once, and nothing a client sent becomes a line of its own', async () => {
    smtp.mails.length = 0;
    await sendLines(app.dataDir, [guardBlock({ user_agent: 'x\r\nBcc: evil@example.com\r\n.\r\n' })]);
    await eventually(() => smtp.mails.length).toBe(2);
    for (const { from, data } of smtp.mails) {
      expect(from).toBe('sallyport@example.com');
      expect(data).toMatch(/^Subject: \[Sallyport\] Request blocked by the firewall$/m);
      expect(data).toContain('Event: waf_block');
      expect(data).not.toMatch(/^Bcc:/m);
    }
  });

  test('that one recipient can not get reach the others all the same', async () => {
    smtp.mails.length = 0;
    await app.send('PUT', '/security/notifications/settings', {
      email_recipients: 'nobody@example.com,one@example.com',
    });
    expect(await tryMail()).toEqual({
      attempted: true,
      delivered: false,
      error: 'mail was not sent to 1 of 2 recipients',
    });
    expect(smtp.mails.map(({ to }) => to)).toEqual([['one@example.com']]);
  });
});
