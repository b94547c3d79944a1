import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { DescribedSetting, MailTest, Setting, UrlTest } from '@sallyport/contract';
import { SETTINGS } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isBlockedAddress } from '../../../net/blocked-addresses.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

type Refused = { error: string; code: number; details?: string; valid?: boolean };

onBothDatabases('settings', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let target: Server;
  let port = 0;

  beforeAll(async () => {
    target = createServer((request, response) => {
      if (request.url === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      else if (request.url === '/missing') response.writeHead(404).end();
      else response.end();
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    ({ port } = target.address() as AddressInfo);
    app = await startApp(
      kind,
      {},
      {
        // This one server stands for the public network; every other address keeps its rule.
        addressPolicy: {
          isBlockedAddress: (address, at) => !(address === '127.0.0.1' && at === port) && isBlockedAddress(address),
          isBlockedName: () => false,
        },
      },
    );
    admin = await createGiven(app).administrator();
  });
  afterAll(async () => {
    target.close();
    await app.stop();
  });

  const send = <T = Setting & Refused>(method: string, path: string, body?: unknown) =>
    app.send<T>(method, path, body, admin.headers);
  const value = async (key: string) => (await send<DescribedSetting>('GET', `/settings/${key}`)).body.value;

  test('are listed with what they mean, and have their default until they are set', async () => {
    const { body } = await send<{ settings: DescribedSetting[] }>('GET', '/settings');
    expect(body.settings.map(({ key }) => key)).toEqual(Object.keys(SETTINGS));
    expect(body.settings.find(({ key }) => key === 'smtp.port')).toEqual({
      key: 'smtp.port',
      value: '587',
      type: 'integer',
      default: '587',
      description: expect.any(String),
      is_secret: false,
      is_set: false,
    });
  });

  test('are set, read and set back', async () => {
    const set = await send('POST', '/settings', { key: 'smtp.port', value: '2525' });
    expect(set).toMatchObject({ status: 200, body: { key: 'smtp.port', value: '2525' } });
    expect(await value('smtp.port')).toBe('2525');
    expect((await send('DELETE', '/settings/smtp.port')).status).toBe(204);
    expect((await send('DELETE', '/settings/smtp.port')).status).toBe(204);
    expect(await value('smtp.port')).toBe('587');
    expect((await send('GET', '/settings/unknown')).status).toBe(404);
    expect((await send('DELETE', '/settings/__proto__')).status).toBe(404);
  });

  test.each([
    [{ key: 'unknown', value: '1' }, 'key "unknown" is not a setting'],
    [{ key: 'toString', value: '1' }, 'key "toString" is not a setting'],
    [{ key: 'feature.guard.enabled', value: 'yes' }, 'value must be true or false'],
    [{ key: 'feature.guard.enabled', value: true }, 'value must be a string'],
    [{ key: 'smtp.port', value: '0' }, 'value must be a whole number between 1 and 65535'],
    [{ key: 'smtp.port', value: '1e3' }, 'value must be a whole number between 1 and 65535'],
    [{ key: 'smtp.security', value: 'ssl' }, 'value must be one of: starttls, tls, none'],
    [{ key: 'smtp.from', value: 'a@b.example, c@d.example' }, 'value must be a valid e-mail address'],
    [{ key: 'smtp.host', value: 'a\r\nb' }, 'value must be one line without control characters'],
    [
      { key: 'app.public_url', value: 'https://a.example/path' },
      'value: URL must start with http:// or https:// and cannot include path components',
    ],
    [{ key: 'smtp.host' }, 'value is required'],
    [{ value: 'x' }, 'key is required'],
  ])('refuse %j', async (body, error) => {
    expect(await send('POST', '/settings', body)).toMatchObject({ status: 400, body: { error, code: 400 } });
  });

  test('never show a secret again', async () => {
    expect((await send('POST', '/settings', { key: 'smtp.password', value: 'hidden' })).body.value).toBe('');
    const { body } = await send<DescribedSetting>('GET', '/settings/smtp.password');
    expect(body).toMatchObject({ value: '', is_secret: true, is_set: true });
    await send('DELETE', '/settings/smtp.password');
  });

  const validate = (url: unknown) =>
    send<Refused & { normalized?: string; warning?: string }>('POST', '/settings/validate-url', { url });

  test.each([
    ['https://example.com', 'https://example.com'],
    ['https://example.com/', 'https://example.com'],
    ['https://example.com///', 'https://example.com'],
    ['https://Example.com:8443/', 'https://example.com:8443'],
    ['HTTPS://example.com:443', 'https://example.com:443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://192.168.1.10:8080', 'https://192.168.1.10:8080'],
    ['https://[2001:DB8::1]:8080/', 'https://[2001:db8::1]:8080'],
    ['https://localhost', 'https://localhost'],
  ])('accept %s as public URL', async (url, normalized) => {
    expect(await validate(url)).toMatchObject({ status: 200, body: { valid: true, normalized } });
  });

  test('warn of http', async () => {
    const { body } = await validate('http://example.com:8080/');
    expect(body).toMatchObject({ valid: true, normalized: 'http://example.com:8080' });
    expect(body.warning).toContain('not recommended for production');
    expect((await validate('https://example.com')).body).not.toHaveProperty('warning');
  });

  test.each([
    'example.com',
    'ftp://example.com',
    ' https://example.com',
    'https://',
    'https:///example.com',
    'https://example.com/path',
    'https://example.com/?a',
    'https://example.com?a=b',
    'https://example.com#a',
    'https://user@example.com',
    'https://example.com:0',
    'https://example.com:65536',
    'https://exa mple.com',
    'https://example.com\\@evil.example',
    'https:example.com',
    'javascript:alert(1)',
  ])('refuse "%s" as public URL', async (url) => {
    expect(await validate(url)).toMatchObject({
      status: 400,
      body: { valid: false, error: 'URL must start with http:// or https:// and cannot include path components' },
    });
  });

  test('ask for the URL to check', async () => {
    expect(await validate(undefined)).toMatchObject({ status: 400, body: { valid: false, error: 'url is required' } });
    expect(await validate(7)).toMatchObject({ status: 400, body: { valid: false, error: 'url must be a string' } });
    expect((await send('POST', '/settings/test-url', {})).body.error).toBe('url is required');
  });

  const testUrl = (url: string) => send<UrlTest & Refused>('POST', '/settings/test-url', { url });

  test('try a URL, and tell what came of it', async () => {
    const reached = await testUrl(`http://127.0.0.1:${port}/`);
    expect(reached).toMatchObject({ status: 200, body: { reachable: true, error: '', message: expect.any(String) } });
    expect(reached.body.latency).toBeGreaterThan(0);
    expect((await testUrl(`http://127.0.0.1:${port}/missing`)).body.reachable).toBe(true);
    expect(await testUrl('http://does-not-exist.invalid/')).toMatchObject({
      status: 200,
      body: { reachable: false, latency: 0, error: 'the host name does not resolve' },
    });
  });

  test.each(['http://127.0.0.1:1/', 'http://[::ffff:10.0.0.1]/', 'http://2130706433/', 'http://localhost:1/'])(
    'refuse to try %s',
    async (url) => {
      expect(await testUrl(url)).toMatchObject({
        status: 403,
        body: {
          error: 'URL resolves to a private IP address (blocked for security)',
          details: expect.stringContaining('SSRF protection'),
        },
      });
    },
  );

  test('refuse to follow a redirect into the private network', async () => {
    expect((await testUrl(`http://127.0.0.1:${port}/inside`)).status).toBe(403);
  });

  test.each(['nonsense', 'ftp://example.com/', 'http://', 'http://a:b@example.com/'])(
    'find no URL in "%s"',
    async (url) => {
      expect(await testUrl(url)).toMatchObject({ status: 400, body: { error: 'invalid URL format' } });
    },
  );

  test('send mail by the server they name, and tell why not', async () => {
    const mailTest = () => send<MailTest & Refused>('POST', '/settings/test-mail', { to: 'somebody@example.com' });
    expect((await mailTest()).body).toEqual({ sent: false, error: 'smtp.host and smtp.from must be set' });
    const received: string[] = [];
    // As much of RFC 5321 as a mail needs.
    const smtp = createTcpServer((socket) => {
      let isData = false;
      socket.write('220 test\r\n');
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
          received.push(line);
          if (isData) {
            if (line !== '.') continue;
            isData = false;
            socket.write('250 taken\r\n');
          } else if (line === 'DATA') {
            isData = true;
            socket.write('354 go on\r\n');
          } else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
        }
      });
    });
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
    const set = (key: string, text: string) => send('POST', '/settings', { key, value: text });
    await set('smtp.host', '127.0.0.1');
    await set('smtp.port', String((smtp.address() as AddressInfo).port));
    await set('smtp.from', 'proxy@example.com');
    // Encryption is demanded unless it is switched off, so a plain server is refused.
    expect((await mailTest()).body).toMatchObject({ sent: false, error: expect.stringMatching(/TLS/i) });
    await set('smtp.security', 'none');
    expect((await mailTest()).body).toEqual({ sent: true, error: '' });
    received.length = 0;
    const invited = await send<{ email_sent: boolean; invite_url: string }>('POST', '/users/invite', {
      email: 'new@example.com',
    });
    expect(invited.body.email_sent).toBe(true);
    expect(received).toContain('RCPT TO:<new@example.com>');
    expect(received.join('').replaceAll(/=(3D)?/g, '=')).toContain(
      new URL(invited.body.invite_url).searchParams.get('token')?.slice(0, 20),
    );
    smtp.close();
    expect((await mailTest()).body).toMatchObject({ sent: false, error: expect.stringContaining('ECONNREFUSED') });
    expect((await send('POST', '/settings/test-mail', { to: 'x' })).status).toBe(400);
  });
});
