import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { type Fields, host, RESOURCES, startWithResources } from '../testing/given-resources.ts';
import { onBothDatabases } from '../testing/start-app.ts';

onBothDatabases('versions of all resources', (kind) => {
  let it: Awaited<ReturnType<typeof startWithResources>>;
  beforeAll(async () => {
    it = await startWithResources(kind);
  });
  afterAll(() => it.app.stop());

  test.each(RESOURCES)('a %s has a version, and is changed or deleted only as it was seen', async (name) => {
    const { make, change, wrapped } = it.resources[name];
    const path = await make();
    const first = await it.send('GET', path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}(\.[\w-]{22})?"$/);
    expect((await it.send('GET', path)).headers.get('etag')).toBe(etag);
    const again = await it.send('GET', path, undefined, { 'if-none-match': `"other", ${etag}` });
    expect(again).toMatchObject({ status: 304, body: '' });
    expect(again.headers.get('etag')).toBe(etag);
    expect((await it.send('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);

    let current = etag;
    if (change) {
      const changed = await it.send('PUT', path, change, { 'if-match': etag });
      expect(changed.status).toBe(200);
      current = changed.headers.get('etag') ?? '';
      expect(current).not.toBe(etag);
      const stale = await it.send('PUT', path, change, { 'if-match': etag });
      expect(stale).toMatchObject({ status: 412, body: { code: 412, current: change } });
      expect((await it.send('PUT', path, change, { 'if-match': stale.headers.get('etag') ?? '' })).status).toBe(200);
      expect((await it.send('PUT', path, {}, { 'if-match': '*' })).status).toBe(200);
      current = (await it.send('GET', path)).headers.get('etag') ?? '';
    }
    const identity = (wrapped === undefined ? first.body : first.body[wrapped]) as Fields;
    for (const other of ['"other"', `W/${current}`, '""']) {
      const refused = await it.send('DELETE', path, undefined, { 'if-match': other });
      expect(refused, other).toMatchObject({ status: 412, body: { current: { id: identity.id } } });
      expect(JSON.stringify(refused.body)).not.toMatch(/sealed|hash/);
    }
    expect((await it.send('DELETE', path, undefined, { 'if-match': current.replaceAll('"', '') })).status).toBe(400);
    expect((await it.send('GET', path)).status).toBe(200);
    expect((await it.send('DELETE', path, undefined, { 'if-match': current })).status).toBeLessThan(300);
    expect((await it.send('GET', path)).status).toBe(404);
    expect((await it.send('DELETE', path, undefined, { 'if-match': current })).status).toBe(404);
  });

  test('of many changes of one version exactly one is made', async () => {
    const path = await it.resources['proxy host'].make();
    const etag = (await it.send('GET', path)).headers.get('etag') ?? '';
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => it.send('PUT', path, { name: `n${n}` }, { 'if-match': etag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
  });

  test('a version is that of what is stored: a test of a machine changes the tag, and refuses nothing', async () => {
    const path = await it.resources['remote server'].make();
    const before = (await it.send('GET', path)).headers.get('etag') ?? '';
    await it.send('POST', `${path}/test`);
    const after = (await it.send('GET', path)).headers.get('etag') ?? '';
    expect(after).not.toBe(before);
    expect((await it.send('PUT', path, { name: 'n' }, { 'if-match': before })).status).toBe(200);
  });

  test('configuration has versions as well', async () => {
    for (const [path, method, read] of [
      ['/security/config', 'POST', '/security/config'],
      ['/security/notifications/settings', 'PUT', '/security/notifications/settings?defaults=true'],
    ] as const) {
      const etag = (await it.send('GET', read)).headers.get('etag') ?? '';
      const body = method === 'POST' ? { name: 'n' } : { min_log_level: 'error' };
      const changed = await it.send(method, path, body, { 'if-match': etag });
      expect(changed.status, path).toBe(200);
      expect((await it.send('GET', path)).headers.get('etag'), path).toBe(changed.headers.get('etag'));
      expect((await it.send(method, path, body, { 'if-match': etag })).status, path).toBe(412);
    }
    const setting = await it.send('GET', '/settings/audit.retention_days');
    const ifMatch = { 'if-match': setting.headers.get('etag') ?? '' };
    const set = { key: 'audit.retention_days', value: '30' };
    const stored = await it.send('POST', '/settings', set, ifMatch);
    expect(stored.status).toBe(200);
    expect((await it.send('POST', '/settings', set, ifMatch)).status).toBe(412);
    expect((await it.send('DELETE', '/settings/audit.retention_days', undefined, ifMatch)).status).toBe(412);
    const now = { 'if-match': stored.headers.get('etag') ?? '' };
    expect((await it.send('DELETE', '/settings/audit.retention_days', undefined, now)).status).toBe(204);
  });

  test('what a POST makes is where Location says, with the same tag', async () => {
    for (const [path, body] of [
      ['/proxy-hosts', host('located.example.com')],
      ['/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 }],
      ['/access-lists', { name: 'located', type: 'deny' }],
      ['/dns-providers', { name: 'located', type: 'webhook', fields: { url: 'https://dns.example.com/' } }],
      ['/users', { email: 'located@example.com', password: 'a long password' }],
      ['/users/invite', { email: 'invited@example.com' }],
      ['/tokens', { name: 'located' }],
      ['/security/decisions', { ip: '192.0.2.77', action: 'block' }],
      ['/security/exclusions', { rule_id: 942_100 }],
      ['/certificates/upload', uploadForm('located', makeCertificate(['located.example.net']))],
    ] as const) {
      const made = await it.send('POST', path, body);
      expect(made.status, path).toBe(201);
      const location = made.headers.get('location') ?? '';
      expect(location, path).toMatch(/^\/api\/v1\//);
      const found = await it.send('GET', location.replace('/api/v1', ''));
      expect(found.status, path).toBe(200);
      const version = (answer: { headers: Headers }) => answer.headers.get('etag')?.slice(0, 23);
      expect(version(found), path).toBe(version(made));
    }
  });
});
