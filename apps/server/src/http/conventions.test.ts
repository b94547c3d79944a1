import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { type Caller, createGiven } from '../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../testing/start-app.ts';

type Fields = Record<string, unknown>;

const host = (domain: string, more: Fields = {}) => ({ domain, forward_host: '127.0.0.1', forward_port: 9, ...more });

onBothDatabases('conventions of all resources', (kind) => {
  let app: TestApp;
  let admin: Caller;

  const send = <T = Fields>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.send<T>(method, path, body, { ...admin.headers, ...headers });

  const given = async (path: string, body: unknown): Promise<Fields> => {
    const answer = await send('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };

  /** An object of each resource: how it is made, where it is then, and a change of it where there is one. */
  const resources: Record<string, { make: () => Promise<string>; change?: Fields; wrapped?: string }> = {
    'proxy host': {
      make: async () => `/proxy-hosts/${(await given('/proxy-hosts', host(`h${count()}.example.com`))).uuid}`,
      change: { name: 'changed' },
    },
    'remote server': {
      make: async () =>
        `/remote-servers/${(await given('/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 })).id}`,
      change: { name: 'changed' },
    },
    'access list': {
      make: async () => `/access-lists/${(await given('/access-lists', { name: `l${count()}`, type: 'deny' })).uuid}`,
      change: { description: 'changed' },
    },
    'DNS provider': {
      make: async () => {
        const hook = { name: `d${count()}`, type: 'webhook', fields: { url: 'https://dns.example.com/' } };
        return `/dns-providers/${(await given('/dns-providers', hook)).uuid}`;
      },
      change: { fields: { url: 'https://dns.example.com/changed' } },
    },
    user: {
      make: async () =>
        `/users/${(await given('/users', { email: `u${count()}@example.com`, password: 'a long password' })).id}`,
      change: { name: 'changed' },
    },
    certificate: {
      make: async () => {
        const names = [`c${count()}.example.com`];
        return `/certificates/${(await given('/certificates/upload', uploadForm('c', makeCertificate(names)))).id}`;
      },
    },
    token: { make: async () => `/tokens/${(await given('/tokens', { name: 't' })).id}` },
    decision: {
      make: async () => {
        const { decision } = await given('/security/decisions', { ip: `198.51.100.${count()}`, action: 'block' });
        return `/security/decisions/${(decision as Fields).uuid}`;
      },
      wrapped: 'decision',
    },
    ruleset: {
      make: async () => {
        const rules = { name: `r${count()}`, content: 'SecAction "id:100001,phase:1,pass"', mode: 'custom' };
        const { ruleset } = (await send('POST', '/security/rulesets', rules)).body;
        return `/security/rulesets/${(ruleset as Fields).id}`;
      },
      wrapped: 'ruleset',
    },
  };

  let counter = 0;
  const count = () => {
    counter += 1;
    return counter;
  };

  beforeAll(async () => {
    app = await startApp(kind);
    admin = await createGiven(app).administrator();
  });
  afterAll(() => app.stop());

  test.each(Object.keys(resources))(
    'a %s has a version, and is changed or deleted only as it was seen',
    async (name) => {
      const { make, change, wrapped } = resources[name] as (typeof resources)[string];
      const path = await make();
      const first = await send('GET', path);
      const etag = first.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]{22}(\.[\w-]{22})?"$/);
      expect((await send('GET', path)).headers.get('etag')).toBe(etag);
      const again = await send('GET', path, undefined, { 'if-none-match': `"other", ${etag}` });
      expect(again).toMatchObject({ status: 304, body: '' });
      expect(again.headers.get('etag')).toBe(etag);
      expect((await send('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);

      let current = etag;
      if (change) {
        const changed = await send('PUT', path, change, { 'if-match': etag });
        expect(changed.status).toBe(200);
        current = changed.headers.get('etag') ?? '';
        expect(current).not.toBe(etag);
        const stale = await send('PUT', path, change, { 'if-match': etag });
        expect(stale).toMatchObject({ status: 412, body: { code: 412, current: change } });
        expect((await send('PUT', path, change, { 'if-match': stale.headers.get('etag') ?? '' })).status).toBe(200);
        expect((await send('PUT', path, {}, { 'if-match': '*' })).status).toBe(200);
        current = (await send('GET', path)).headers.get('etag') ?? '';
      }
      const identity = (wrapped === undefined ? first.body : first.body[wrapped]) as Fields;
      for (const other of ['"other"', `W/${current}`, '""']) {
        const refused = await send('DELETE', path, undefined, { 'if-match': other });
        expect(refused, other).toMatchObject({ status: 412, body: { current: { id: identity.id } } });
        expect(JSON.stringify(refused.body)).not.toMatch(/sealed|hash/);
      }
      expect((await send('DELETE', path, undefined, { 'if-match': current.replaceAll('"', '') })).status).toBe(400);
      expect((await send('GET', path)).status).toBe(200);
      expect((await send('DELETE', path, undefined, { 'if-match': current })).status).toBeLessThan(300);
      expect((await send('GET', path)).status).toBe(404);
      expect((await send('DELETE', path, undefined, { 'if-match': current })).status).toBe(404);
    },
  );

  test('of many changes of one version exactly one is made', async () => {
    const path = await resources['proxy host']?.make();
    const etag = (await send('GET', path ?? '')).headers.get('etag') ?? '';
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => send('PUT', path ?? '', { name: `n${n}` }, { 'if-match': etag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
  });

  test('a version is that of what is stored: a test of a machine changes the tag, and refuses nothing', async () => {
    const path = (await resources['remote server']?.make()) ?? '';
    const before = (await send('GET', path)).headers.get('etag') ?? '';
    await send('POST', `${path}/test`);
    const after = (await send('GET', path)).headers.get('etag') ?? '';
    expect(after).not.toBe(before);
    expect((await send('PUT', path, { name: 'n' }, { 'if-match': before })).status).toBe(200);
  });

  test('configuration has versions as well', async () => {
    for (const [path, method, read] of [
      ['/security/config', 'POST', '/security/config'],
      ['/security/notifications/settings', 'PUT', '/security/notifications/settings?defaults=true'],
    ] as const) {
      const etag = (await send('GET', read)).headers.get('etag') ?? '';
      const body = method === 'POST' ? { name: 'n' } : { min_log_level: 'error' };
      const changed = await send(method, path, body, { 'if-match': etag });
      expect(changed.status, path).toBe(200);
      expect((await send('GET', path)).headers.get('etag'), path).toBe(changed.headers.get('etag'));
      expect((await send(method, path, body, { 'if-match': etag })).status, path).toBe(412);
    }
    const setting = await send('GET', '/settings/audit.retention_days');
    const ifMatch = { 'if-match': setting.headers.get('etag') ?? '' };
    const set = { key: 'audit.retention_days', value: '30' };
    const stored = await send('POST', '/settings', set, ifMatch);
    expect(stored.status).toBe(200);
    expect((await send('POST', '/settings', set, ifMatch)).status).toBe(412);
    expect((await send('DELETE', '/settings/audit.retention_days', undefined, ifMatch)).status).toBe(412);
    const now = { 'if-match': stored.headers.get('etag') ?? '' };
    expect((await send('DELETE', '/settings/audit.retention_days', undefined, now)).status).toBe(204);
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
      const made = await send('POST', path, body);
      expect(made.status, path).toBe(201);
      const location = made.headers.get('location') ?? '';
      expect(location, path).toMatch(/^\/api\/v1\//);
      const found = await send('GET', location.replace('/api/v1', ''));
      expect(found.status, path).toBe(200);
      const version = (answer: { headers: Headers }) => answer.headers.get('etag')?.slice(0, 23);
      expect(version(found), path).toBe(version(made));
    }
  });

  test('every list has pages, an order, a search, and says how much there is and where', async () => {
    for (const name of Object.values(resources)) for (let n = 0; n < 3; n += 1) await name.make();
    for (const [path, key, sort] of [
      ['/proxy-hosts', null, 'domain'],
      ['/remote-servers', null, 'name'],
      ['/access-lists', null, 'name'],
      ['/certificates', null, 'domains'],
      ['/dns-providers', null, 'name'],
      ['/dns-providers/types', null, 'type'],
      ['/users', null, 'email'],
      ['/tokens', null, 'created_at'],
      ['/auth/sessions', null, 'created_at'],
      ['/audit-logs', null, 'timestamp'],
      ['/settings', 'settings', 'key'],
      ['/security/decisions', 'decisions', 'ip'],
      ['/security/rulesets', 'rulesets', 'name'],
      ['/security/blocks', 'blocks', 'timestamp'],
    ] as const) {
      const list = async (query: string) => {
        const answer = await send<Fields>('GET', `${path}${query}`);
        expect(answer.status, `${path}${query} ${JSON.stringify(answer.body)}`).toBe(200);
        const rows = (key === null ? answer.body : answer.body[key]) as Fields[];
        expect(Array.isArray(rows), path).toBe(true);
        const link = answer.headers.get('link') ?? '';
        expect(link, path).toContain('rel="first"');
        expect(link, path).toContain('rel="last"');
        return { rows, link, total: Number(answer.headers.get('x-total-count') ?? 'none') };
      };
      const { total, rows } = await list('');
      expect(total, path).toBeGreaterThanOrEqual(rows.length);
      const walked: Fields[] = [];
      for (let query: string | undefined = '?page=1&per_page=2'; query !== undefined; ) {
        const { rows, link, total: told } = await list(query);
        expect(told, path).toBe(total);
        walked.push(...rows);
        query = /<[^>]*(\?[^>]*)>; rel="next"/.exec(link)?.[1];
      }
      expect(walked.length, path).toBe(total);
      expect(walked.slice(0, rows.length), path).toEqual(rows);
      const up = (await list(`?per_page=1000&sort=${sort}`)).rows;
      const down = (await list(`?per_page=1000&sort=${sort}&order=desc`)).rows;
      expect(down, path).toEqual([...up].reverse());
      expect(await list('?search=n0thing-has-this'), path).toMatchObject({ rows: [], total: 0 });
      for (const wrong of ['page=0', 'per_page=0', 'per_page=1001', 'sort=password_hash', 'order=up', 'page=x']) {
        expect((await send('GET', `${path}?${wrong}`)).status, `${path}?${wrong}`).toBe(400);
      }
    }
  });

  test('an object is found by uuid and by id; what is neither is refused, what nobody has is not found', async () => {
    const made = await given('/proxy-hosts', host('named.example.com'));
    expect(made.id).toEqual(expect.any(Number));
    for (const name of [made.id, made.uuid, String(made.uuid).toUpperCase()]) {
      expect((await send('GET', `/proxy-hosts/${name}`)).body).toMatchObject({ uuid: made.uuid });
      expect((await send('PUT', `/proxy-hosts/${name}`, { name: 'n' })).body).toMatchObject({ uuid: made.uuid });
    }
    const named = [
      '/proxy-hosts',
      '/remote-servers',
      '/dns-providers',
      '/access-lists',
      '/certificates',
      '/security/decisions',
    ];
    for (const path of [...named, '/security/rulesets', '/users', '/tokens']) {
      for (const wrong of ['x', '0', '-1', '1.5', '99999999999', '0x1', '%20']) {
        expect(await send('GET', `${path}/${wrong}`), `${path}/${wrong}`).toMatchObject({
          status: 400,
          body: { error: 'invalid id' },
        });
        expect((await send('DELETE', `${path}/${wrong}`)).status, `${path}/${wrong}`).toBe(400);
      }
      expect((await send('GET', `${path}/999999`)).status, path).toBe(404);
      expect((await send('DELETE', `${path}/999999`)).status, path).toBe(404);
    }
    expect((await send('GET', '/proxy-hosts/00000000-0000-4000-8000-000000000000')).status).toBe(404);
  });

  test('a reference takes the id or the uuid; what is referred to tells by whom, and can not be deleted', async () => {
    const machine = await given('/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 });
    const list = await given('/access-lists', { name: 'referred', type: 'deny' });
    const form = uploadForm('referred', makeCertificate(['*.referred.example.com']));
    const certificate = await given('/certificates/upload', form);
    const references = {
      remote_server_id: String(machine.uuid).toUpperCase(),
      access_list_id: list.uuid,
      certificate_id: certificate.uuid,
    };
    const made = await given('/proxy-hosts', host('a.referred.example.com', references));
    expect(made).toMatchObject({
      remote_server_id: machine.id,
      access_list_id: list.id,
      certificate_id: certificate.id,
    });
    // Served with the certificate without naming it.
    const other = await given('/proxy-hosts', host('b.referred.example.com', { access_list_id: list.id }));
    const use = ({ id, uuid, domain }: Fields) => ({ id, uuid, domain });
    for (const [path, users, message] of [
      [`/remote-servers/${machine.uuid}`, [made], 'remote server is in use by one or more proxy hosts'],
      [`/access-lists/${list.id}`, [made, other], 'access list is in use by one or more proxy hosts'],
      [`/certificates/${certificate.id}`, [made, other], 'certificate is in use by one or more proxy hosts'],
    ] as const) {
      expect((await send('GET', path)).body, path).toMatchObject({
        used_by: users.map(use),
        used_by_total: users.length,
      });
      const refused = await send('DELETE', path);
      expect(refused, path).toMatchObject({ status: 409, body: { error: message } });
      for (const { domain } of users) expect(refused.body.details, path).toContain(String(domain));
    }
    const wrong = '00000000-0000-4000-8000-000000000000';
    for (const field of Object.keys(references)) {
      expect(await send('PUT', `/proxy-hosts/${made.uuid}`, { [field]: wrong })).toMatchObject({ status: 400 });
      expect((await send('PUT', `/proxy-hosts/${made.uuid}`, { [field]: 'x' })).body.error).toBe(
        `${field} must be an integer or a uuid or null`,
      );
    }
    const freed = { remote_server_id: null, access_list_id: null, certificate_id: null };
    expect((await send('PUT', `/proxy-hosts/${made.uuid}`, freed)).body).toMatchObject(freed);
    expect((await send('GET', `/remote-servers/${machine.id}`)).body).toMatchObject({ used_by: [], used_by_total: 0 });
  });

  test('names the first hundred users of an object, and counts them all', async () => {
    const list = await given('/access-lists', { name: 'popular', type: 'deny' });
    for (let n = 0; n < 103; n += 1) {
      await given('/proxy-hosts', host(`p${n}.popular.example.com`, { access_list_id: list.id }));
    }
    const { body } = await send('GET', `/access-lists/${list.id}`);
    expect(body.used_by).toHaveLength(100);
    expect(body.used_by_total).toBe(103);
    expect((await send('DELETE', `/access-lists/${list.id}`)).body.details).toMatch(/and 98 more$/);
  });

  test('another address of a machine is not known to answer', async () => {
    const { hostname, port } = new URL(app.url);
    const machine = await given('/remote-servers', { name: 'm', host: hostname, port: Number(port) });
    const path = `/remote-servers/${machine.uuid}`;
    await send('POST', `${path}/test`);
    expect((await send('PUT', path, { name: 'renamed', host: hostname })).body).toMatchObject({ reachable: true });
    expect((await send('PUT', path, { port: 9 })).body).toMatchObject({ reachable: false, last_checked: null });
  });

  test('CrowdSec that is switched on but does not run is never told as enforced', async () => {
    interface Status {
      applied: boolean;
      issue: string | null;
      crowdsec: object;
    }
    const configured = await send('POST', '/security/config', { crowdsec_mode: 'local', admin_whitelist: '127.0.0.1' });
    expect(configured.body.warning).toContain('CrowdSec does not run here');
    await send('POST', '/settings', { key: 'security.crowdsec.enabled', value: 'true' });
    await send('POST', '/security/enable', {});
    const { body } = await send<Status>('GET', '/security/status');
    expect(body).toMatchObject({ applied: false, crowdsec: { enabled: true, mode: 'local', running: false } });
    expect(body.issue).toContain('CrowdSec is switched on but does not run here');
    await send('POST', '/security/config', { crowdsec_mode: 'disabled' });
    expect((await send<Status>('GET', '/security/status')).body.issue ?? '').not.toContain('CrowdSec');
  });

  test('notification settings that were never saved are a 404, or the defaults for who asks', async () => {
    const fresh = await startApp(kind);
    try {
      const path = '/security/notifications/settings';
      expect(await fresh.send('GET', path)).toMatchObject({
        status: 404,
        body: { error: 'Notification settings not configured' },
      });
      expect(await fresh.send('GET', `${path}?defaults=true`)).toMatchObject({
        status: 200,
        body: { enabled: false, min_log_level: 'warn', webhook_secret_set: false },
      });
      expect((await fresh.send('GET', path)).status).toBe(404);
    } finally {
      await fresh.stop();
    }
  });
});

test('metrics are where the spec has them and where scrapers look, without a credential', async () => {
  const app = await startApp('sqlite', { SALLYPORT_API_AUTH: 'required' });
  try {
    for (const path of ['/metrics', '/api/v1/metrics', '/metrics?collect=all']) {
      const answer = await fetch(`${app.url}${path}`);
      expect(answer.status, path).toBe(200);
      expect(await answer.text(), path).toContain('svc_waf_requests_total');
    }
  } finally {
    await app.stop();
  }
});
