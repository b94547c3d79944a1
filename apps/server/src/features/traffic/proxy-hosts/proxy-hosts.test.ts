import { randomUUID } from 'node:crypto';
import type { ErrorBody, ProxyHost, ProxyHostsSummary, RemoteServer } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { proxyHostStore } from './store.ts';

const valid = { domain: 'app.example.com', forward_host: '127.0.0.1', forward_port: 9000 };

onBothDatabases('proxy hosts', (kind) => {
  let app: TestApp;
  let serial = 0;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());

  const create = (fields: object = {}) =>
    app.send<ProxyHost>('POST', '/proxy-hosts', { ...valid, domain: `host-${++serial}.example.com`, ...fields });
  const refused = (body: unknown) => app.send<ErrorBody>('POST', '/proxy-hosts', body);

  test('answers 201 with every field, the defaults of the spec among them', async () => {
    const { status, body } = await create({ domain: 'defaults.example.com' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      domain: 'defaults.example.com',
      forward_scheme: 'http',
      forward_host: '127.0.0.1',
      forward_port: 9000,
      ssl_forced: false,
      http2_support: true,
      hsts_enabled: false,
      hsts_subdomains: false,
      block_exploits: true,
      websocket_support: false,
      enabled: true,
      enable_standard_headers: true,
      remote_server_id: null,
    });
    expect(body.uuid).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Date(body.created_at).toISOString()).toBe(body.created_at);
    expect(body.updated_at).toBe(body.created_at);
    expect((await app.send('GET', `/proxy-hosts/${body.uuid}`)).body).toEqual({ ...body, issue: expect.any(String) });
  });

  test('has methods, media types and body size of its own, or those of the suite', async () => {
    const { body } = await create();
    expect(body).toMatchObject({
      waf_allowed_methods: null,
      waf_allowed_content_types: null,
      waf_body_limit: null,
    });
    const own = {
      waf_allowed_methods: 'get,propfind',
      waf_allowed_content_types: 'text/XML',
      waf_body_limit: 50_000_000,
    };
    const stored = { ...own, waf_allowed_methods: 'GET,PROPFIND', waf_allowed_content_types: 'text/xml' };
    expect((await app.send('PUT', `/proxy-hosts/${body.uuid}`, own)).body).toMatchObject(stored);
    expect((await app.send('GET', `/proxy-hosts/${body.uuid}`)).body).toMatchObject(stored);
    expect(await refused({ ...valid, waf_allowed_methods: 'GET PUT' })).toMatchObject({
      status: 400,
      body: { error: 'waf_allowed_methods: "GET PUT" is not a request method' },
    });
  });

  test('says that a host is not applied while no HAProxy runs, and why', async () => {
    const { body } = await create();
    expect(body.applied).toBe(false);
    expect(body.issue).toMatch(/HAProxy/);
  });

  test.each([
    ['nothing', {}, 'domain is required'],
    ['no body', undefined, 'domain is required'],
    ['an empty domain', { ...valid, domain: ' , ' }, 'domain is required'],
    ['an empty name', { ...valid, domain: 'a.example.com,,b.example.com' }, 'domain has an empty name'],
    ['an empty name at the end', { ...valid, domain: 'a.example.com, ' }, 'domain has an empty name'],
    ['no forward_host', { domain: 'a.example.com', forward_port: 1 }, 'forward_host is required'],
    ['no forward_port', { domain: 'a.example.com', forward_host: 'x' }, 'forward_port is required'],
    ['a port as text', { ...valid, forward_port: '80' }, 'forward_port must be an integer'],
    ['port 0', { ...valid, forward_port: 0 }, 'forward_port must be between 1 and 65535'],
    ['port 65536', { ...valid, forward_port: 65_536 }, 'forward_port must be between 1 and 65535'],
    ['a fractional port', { ...valid, forward_port: 80.5 }, 'forward_port must be an integer'],
    ['an unknown scheme', { ...valid, forward_scheme: 'ftp' }, 'forward_scheme must be one of: http, https'],
    ['a flag as text', { ...valid, enabled: 'yes' }, 'enabled must be a boolean'],
    ['null for a flag', { ...valid, ssl_forced: null }, 'ssl_forced must be a boolean'],
    ['a list', [], 'body must be a JSON object'],
    ['null', 'null', 'body must be a JSON object'],
    [
      'verification of an origin without a name',
      { ...valid, forward_scheme: 'https', forward_verify_tls: true },
      'forward_verify_tls needs a host name in forward_host',
    ],
    [
      'a remote server that is not there',
      { ...valid, remote_server_id: 99 },
      'remote_server_id names no remote server',
    ],
    ['a certificate that is not there', { ...valid, certificate_id: 99 }, 'certificate_id names no certificate'],
    ['NUL in a name', { ...valid, name: 'a\0b' }, 'name must not contain NUL characters'],
    ['text that is not JSON', '{"domain":', 'body must be valid JSON'],
  ])('refuses %s', async (_what, body, message) => {
    const answer = await refused(body);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe(400);
    expect(answer.body.error).toContain(message);
  });

  test.each([
    'https://a.example.com',
    'a.example.com:443',
    'a.example.com/path',
    'a b.example.com',
    'a..example.com',
    '-a.example.com',
    '*.*.example.com',
    'a.*.example.com',
    '*',
    '10.0.0.1',
    '[::1]',
    'a.example.com\nb',
    'a.example.com\r\nx: y',
    'a.example.com#c',
    'a.example.com"',
    "a.example.com'",
    'a\u200b.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(130)}com`,
    'user@example.com',
    'a%2eexample.com',
  ])('refuses the domain %j', async (domain) => {
    const before = (await app.send<ProxyHost[]>('GET', '/proxy-hosts')).body.length;
    const { status, body } = await refused({ ...valid, domain });
    expect(status).toBe(400);
    expect(body.error).toMatch(/^domain /);
    expect(body.error).not.toMatch(/[\n\r\0]/);
    expect((await app.send<ProxyHost[]>('GET', '/proxy-hosts')).body).toHaveLength(before);
  });

  test.each(['http://x', 'x:80', 'x/y', '1.2.3', '0x7f.1', 'a b', '::1%eth0', 'x\nserver evil', '..'])(
    'refuses the forward_host %j',
    async (forward_host) => {
      const { status, body } = await refused({ ...valid, domain: 'free.example.com', forward_host });
      expect(status).toBe(400);
      expect(body.error).toMatch(/^forward_host /);
    },
  );

  test('normalises names: trimmed, lower case, punycode, no trailing dot, each once', async () => {
    const { body } = await create({ domain: ' WWW.Example.NET., *.BÜCHER.example ,www.example.net ' });
    expect(body.domain).toBe('www.example.net,*.xn--bcher-kva.example');
  });

  test('takes IPv6 origins with and without brackets', async () => {
    expect((await create({ forward_host: '[::1]' })).body.forward_host).toBe('::1');
    expect((await create({ forward_host: 'FD00::1' })).body.forward_host).toBe('fd00::1');
    expect((await create({ forward_host: 'my_container' })).body.forward_host).toBe('my_container');
  });

  test('refuses a name that another host has, naming that host, and keeps nothing of the refused one', async () => {
    const owner = (await create({ domain: 'taken.example.com,other.example.com' })).body;
    const answer = await refused({ ...valid, domain: 'new.example.com,OTHER.example.com' });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toContain('other.example.com');
    expect(answer.body.error).toContain(owner.uuid);
    expect((await create({ domain: 'new.example.com' })).status).toBe(201);
  });

  test('changes any subset, keeps the rest, and moves updated_at', async () => {
    const { body: host } = await create({ websocket_support: true });
    const { status, body } = await app.send<ProxyHost>('PUT', `/proxy-hosts/${host.uuid}`, { forward_port: 9001 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ forward_port: 9001, websocket_support: true, domain: host.domain });
    expect(body.created_at).toBe(host.created_at);
    expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(host.updated_at));
  });

  test('takes back what GET gave, names the fields it ignored, and changes none of them', async () => {
    const { body: host } = await create();
    const answer = await app.send<ProxyHost>('PUT', `/proxy-hosts/${host.uuid}`, {
      ...host,
      uuid: '00000000-0000-4000-8000-000000000000',
      created_at: '2000-01-01T00:00:00.000Z',
    });
    expect(answer.status).toBe(200);
    // Why it is not applied may be worded anew once HAProxy was looked for.
    const { updated_at, issue } = answer.body;
    expect(answer.body).toEqual({ ...host, updated_at, issue });
    expect(answer.headers.get('x-sallyport-ignored-fields')).toBe(
      'id, uuid, applied, issue, warnings, created_at, updated_at',
    );
  });

  test('frees the names a host gives up', async () => {
    const { body: host } = await create({ domain: 'old.example.com' });
    await app.send('PUT', `/proxy-hosts/${host.uuid}`, { domain: 'newer.example.com' });
    expect((await create({ domain: 'old.example.com' })).status).toBe(201);
    expect((await create({ domain: 'newer.example.com' })).status).toBe(409);
  });

  test('deletes once; afterwards the host is unknown and its name free', async () => {
    const { body: host } = await create({ domain: 'gone.example.com' });
    const deleted = await app.send('DELETE', `/proxy-hosts/${host.uuid}`);
    expect(deleted.status).toBe(204);
    expect(deleted.body).toBe('');
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', {}]] as const) {
      const answer = await app.send<ErrorBody>(method, `/proxy-hosts/${host.uuid}`, body);
      expect(answer).toMatchObject({ status: 404, body: { error: 'Proxy host not found', code: 404 } });
    }
    expect((await create({ domain: 'gone.example.com' })).status).toBe(201);
  });

  test.each([
    ['nope', 400],
    ['../../health', 400],
    ["' or 1=1", 400],
    ['424242', 404],
  ])('knows no host named %j', async (id, status) => {
    expect((await app.send('GET', `/proxy-hosts/${encodeURIComponent(id)}`)).status).toBe(status);
  });

  test('pages, sorts and searches when asked, and says how much there is', async () => {
    for (const name of ['c', 'a', 'b']) await create({ domain: `${name}.paging.example.com` });
    const answer = await app.send<ProxyHost[]>(
      'GET',
      '/proxy-hosts?search=PAGING.example&sort=domain&order=desc&per_page=2&page=1',
    );
    expect(answer.body.map(({ domain }) => domain)).toEqual(['c.paging.example.com', 'b.paging.example.com']);
    expect(answer.headers.get('x-total-count')).toBe('3');
    expect(answer.headers.get('link')).toContain('rel="next"');
    const literal = await app.send<ProxyHost[]>('GET', '/proxy-hosts?search=%25');
    expect(literal.body).toEqual([]);
    expect((await app.send('GET', '/proxy-hosts?sort=uuid;drop')).status).toBe(400);
    expect((await app.send('GET', '/proxy-hosts?per_page=0')).status).toBe(400);
  });

  test('changes and deletes many, all or none', async () => {
    const hosts = [(await create()).body, (await create()).body];
    const uuids = hosts.map(({ uuid }) => uuid);
    const changed = await app.send<ProxyHost[]>('POST', '/proxy-hosts/bulk', { uuids, patch: { ssl_forced: true } });
    expect(changed.body.map(({ ssl_forced }) => ssl_forced)).toEqual([true, true]);
    const unknown = '00000000-0000-4000-8000-000000000000';
    const failed = await app.send('POST', '/proxy-hosts/bulk', {
      uuids: [...uuids, unknown],
      patch: { enabled: false },
    });
    expect(failed.status).toBe(404);
    expect((await app.send<ProxyHost>('GET', `/proxy-hosts/${uuids[0]}`)).body.enabled).toBe(true);
    expect((await app.send('POST', '/proxy-hosts/bulk', { uuids, patch: { domain: 'x.example.com' } })).status).toBe(
      400,
    );
    const spelledTwice = [...uuids, ...uuids.map((uuid) => uuid.toUpperCase())];
    const once = await app.send<ProxyHost[]>('POST', '/proxy-hosts/bulk', {
      uuids: spelledTwice,
      patch: { enabled: false },
    });
    expect(once.body.map(({ uuid }) => uuid)).toEqual(uuids);
    expect((await app.send('POST', '/proxy-hosts/bulk-delete', { uuids: spelledTwice })).body).toEqual({ deleted: 2 });
    expect((await app.send('GET', `/proxy-hosts/${uuids[1]}`)).status).toBe(404);
  });

  test('takes no column for a field, however deep in a body it stands', async () => {
    const { body: host } = await create();
    const answer = await app.send<ProxyHost[]>('POST', '/proxy-hosts/bulk', {
      uuids: [host.uuid],
      patch: {
        id: 4_711,
        uuid: '00000000-0000-4000-8000-000000000000',
        created_at: 'never',
        name: 'kept',
      },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: [{ uuid: host.uuid, created_at: host.created_at, name: 'kept' }],
    });
    expect(answer.headers.get('x-sallyport-ignored-fields')).toBe('patch.id, patch.uuid, patch.created_at');
  });

  test('refuses a change that would leave an origin verified without a name, and keeps what was', async () => {
    const { body: host } = await create({
      forward_host: 'localhost',
      forward_scheme: 'https',
      forward_verify_tls: true,
    });
    const path = `/proxy-hosts/${host.uuid}`;
    expect((await app.send('PUT', path, { forward_host: '127.0.0.1' })).status).toBe(400);
    expect((await app.send<ProxyHost>('GET', path)).body.forward_host).toBe('localhost');
    expect((await app.send('PUT', path, { forward_host: '127.0.0.1', forward_verify_tls: false })).status).toBe(200);
  });

  test('refuses a NUL in a query, which PostgreSQL could not look for', async () => {
    const answer = await app.send<ErrorBody>('GET', '/proxy-hosts?search=%00');
    expect(answer).toMatchObject({ status: 400, body: { error: 'search must not contain NUL characters' } });
  });

  test('links the last page by the size a page has, wherever the caller is', async () => {
    const total = Number((await app.send('GET', '/proxy-hosts')).headers.get('x-total-count'));
    const linkOf = async (query: string) => (await app.send('GET', `/proxy-hosts?${query}`)).headers.get('link') ?? '';
    const last = Math.ceil(total / 50);
    expect(await linkOf('page=2')).toContain(`page=${last}>; rel="last"`);
    const beyond = await linkOf('page=99&per_page=5');
    expect(beyond).toContain(`page=${Math.ceil(total / 5)}&per_page=5>; rel="prev"`);
    expect(beyond).not.toContain('rel="next"');
  });

  test('gives a name to one of many that ask for it at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({ domain: 'race.example.com' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
  });

  test('links a remote server, which then can not be deleted', async () => {
    const server = await app.send<RemoteServer>('POST', '/remote-servers', { name: 's', host: 'h', port: 1 });
    const { body: host } = await create({ remote_server_id: server.body.id });
    expect(host.remote_server_id).toBe(server.body.id);
    expect((await app.send('DELETE', `/remote-servers/${server.body.uuid}`)).status).toBe(409);
    await app.send('DELETE', `/proxy-hosts/${host.uuid}`);
    expect((await app.send('DELETE', `/remote-servers/${server.body.uuid}`)).status).toBe(204);
  });

  test('has lost nothing after a restart', async () => {
    const before = (await app.send<ProxyHost[]>('GET', '/proxy-hosts')).body;
    await app.restart();
    expect((await app.send<ProxyHost[]>('GET', '/proxy-hosts')).body).toHaveLength(before.length);
  });

  test('are summed up as the list has them, more than are read at once', async () => {
    const { body } = await create({ enabled: false });
    const { applied, issue, warnings, id, ...stored } = body;
    const database = openDatabase(app.config);
    await proxyHostStore(database.kysely).insertMany(
      Array.from({ length: 300 }, (_, n) => ({
        ...{ ...stored, uuid: randomUUID(), domain: `many-${n}.example.com` },
        names: [`many-${n}.example.com`],
      })),
    );
    await database.stop();
    const { body: all } = await app.send<ProxyHost[]>('GET', '/proxy-hosts');
    const { status, body: summary } = await app.send<ProxyHostsSummary>('GET', '/proxy-hosts/summary');
    expect(status).toBe(200);
    // No HAProxy runs here.
    expect(summary).toMatchObject({
      total: all.length,
      enabled: all.filter(({ enabled }) => enabled).length,
      with_issue: all.length,
      with_warnings: 0,
      with_certificate: all.filter((host) => host.certificate_id !== null || host.auto_certificate).length,
      served: 0,
      first_page: null,
    });
    expect(summary.total).toBeGreaterThan(300);
    // What HAProxy last said may be another thing by now.
    const shown = all
      .slice(0, 20)
      .map(({ uuid, domain, name, warnings }) => ({ uuid, domain, name, issue: expect.any(String), warnings }));
    expect(summary.attention).toEqual(shown);
  });
});
