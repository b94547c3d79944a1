import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothDatabases, startApp, type TestApp } from '../testing/start-app.ts';

/** Text that maps, configuration files, logs and databases trip over. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    'a.example.com\nb.example.com 1',
    'a.example.com\r\nset-header x',
    'a.example.com # comment',
    'a.example.com"quoted"',
    "a.example.com'quoted'",
    '\0',
    'a\0b.example.com',
    `${'x'.repeat(5_000)}.example.com`,
    'xn--a.example.com',
    'xn--\u00e4.example.com',
    '\u202ea.example.com',
    '\ud800',
    'ａ.example.com',
    '%0a.example.com',
    '{{7*7}}',
    '$\u007benv}',
    '$(id)',
    '../../etc/passwd',
    '*',
    '*.',
    ',,,',
    '__proto__',
    '1e1000',
  ),
);

const hostileValue = fc.oneof(
  hostileText,
  fc.jsonValue(),
  fc.constantFrom(null, -1, 0, 1.5, 65_536, 2 ** 53, [], {}, [null], { a: 1 }),
);

const hostFields = ['domain', 'forward_scheme', 'forward_host', 'forward_port', 'enabled', 'remote_server_id', 'name'];
const serverFields = ['name', 'provider', 'host', 'port', 'enabled'];
const validHost = { domain: 'p.example.com', forward_host: '127.0.0.1', forward_port: 9000 };
const validServer = { name: 'n', host: '127.0.0.1', port: 80 };

/** A valid body with one field replaced, or no object at all. */
const bodies = (valid: object, fields: string[]) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom(...fields), hostileValue).map(([key, value]) => ({ ...valid, [key]: value })),
    },
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 1, arbitrary: fc.string() },
  );

const PLAIN_NAME = /^(\*\.)?[a-z0-9.-]+$/;

onBothDatabases('hostile input', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());
  const runs = { numRuns: kind === 'sqlite' ? 300 : 60 };

  const count = async (path: string) => (await app.send<unknown[]>('GET', path)).body.length;

  test.each([
    ['/proxy-hosts', validHost, hostFields],
    ['/remote-servers', validServer, serverFields],
  ] as const)('POST %s never fails, and what it refuses changes nothing', async (path, valid, fields) => {
    let size = await count(path);
    await fc.assert(
      fc.asyncProperty(bodies(valid, [...fields]), async (body) => {
        const answer = await app.send<{ error?: string; uuid: string; domain?: string }>('POST', path, body);
        expect(answer.status).toBeLessThan(500);
        if (answer.status === 201) {
          for (const name of answer.body.domain?.split(',') ?? []) expect(name).toMatch(PLAIN_NAME);
          expect((await app.send('DELETE', `${path}/${answer.body.uuid}`)).status).toBe(204);
        } else {
          expect(answer.body.error).toEqual(expect.any(String));
          expect(answer.body.error).not.toMatch(/[\u0000-\u001f]/);
        }
        const now = await count(path);
        expect(now).toBe(size);
        size = now;
      }),
      runs,
    );
  });

  test('PUT never fails, and what it refuses changes nothing', async () => {
    const { body: host } = await app.send<{ uuid: string; domain: string }>('POST', '/proxy-hosts', validHost);
    const path = `/proxy-hosts/${host.uuid}`;
    await fc.assert(
      fc.asyncProperty(bodies({}, hostFields), async (body) => {
        const before = (await app.send('GET', path)).body;
        const answer = await app.send<{ domain: string }>('PUT', path, body);
        expect(answer.status).toBeLessThan(500);
        const after = (await app.send<{ domain: string }>('GET', path)).body;
        if (answer.status !== 200) expect(after).toEqual(before);
        for (const name of after.domain.split(',')) expect(name).toMatch(PLAIN_NAME);
      }),
      runs,
    );
    await app.send('DELETE', path);
  });

  test('no path and no query makes it fail', async () => {
    const prefixes = [
      '/proxy-hosts/',
      '/remote-servers/',
      '/certificates/',
      '/',
      '/proxy-hosts?sort=',
      '/proxy-hosts?search=',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...prefixes),
        hostileText,
        fc.constantFrom('GET', 'DELETE'),
        async (prefix, text, method) => {
          const answer = await app.send(method, prefix + encodeURIComponent(text.toWellFormed()));
          expect(answer.status).toBeLessThan(500);
        },
      ),
      runs,
    );
  });

  test('refuses a body over 1 MiB, another content type, and a prototype in disguise', async () => {
    const long = await app.send('POST', '/proxy-hosts', { ...validHost, name: 'x'.repeat(1_100_000) });
    expect(long.status).toBe(413);
    const xml = await app.send('POST', '/proxy-hosts', '<host/>', { 'content-type': 'application/xml' });
    expect(xml).toMatchObject({ status: 400, body: { error: 'Content-Type must be application/json' } });
    expect((await app.send('POST', '/proxy-hosts', '{"__proto__": {"admin": true}}')).status).toBe(400);
  });

  test('answers unknown paths with 404 and unknown methods with 405 and Allow', async () => {
    expect(await app.send('GET', '/nope')).toMatchObject({ status: 404, body: { error: 'Not found', code: 404 } });
    const patched = await app.send('PATCH', '/proxy-hosts', {});
    expect(patched).toMatchObject({ status: 405, body: { code: 405 } });
    expect(patched.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});
