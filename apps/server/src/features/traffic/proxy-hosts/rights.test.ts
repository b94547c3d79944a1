import type { ErrorBody, ProxyHost } from '@sallyport/contract';
import { PROXY_HOST_PROTECTION } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

/** A value of each field that protects which no new host has. */
const CHANGED: Readonly<Record<string, unknown>> = {
  block_exploits: false,
  forward_reserved: true,
  waf_allowed_content_types: 'text/plain',
  waf_allowed_methods: 'GET',
  waf_body_limit: 4_096,
  waf_enabled: false,
  waf_inspect_responses: true,
};

onBothDatabases('rights over proxy hosts', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let user: Caller;
  let listId: number;
  let serial = 0;

  beforeAll(async () => {
    app = await startApp(kind);
    const given = createGiven(app);
    admin = await given.administrator();
    user = await given.caller();
    const list = { name: 'nobody', type: 'allow', rules: [{ cidr: '192.0.2.1' }] };
    listId = (await app.send<{ id: number }>('POST', '/access-lists', list, admin.headers)).body.id;
  });
  afterAll(() => app.stop());

  const as = ({ headers }: Caller, method: string, path: string, body?: unknown) =>
    app.send<ProxyHost & ErrorBody>(method, path, body, headers);
  const create = async (who: Caller, fields: object = {}) => {
    serial += 1;
    const host = { domain: `h${serial}.example.com`, forward_host: '127.0.0.1', forward_port: 9_000 };
    return as(who, 'POST', '/proxy-hosts', { ...host, ...fields });
  };
  const changedValue = (field: string) => (field === 'access_list_id' ? listId : CHANGED[field]);

  test.each(PROXY_HOST_PROTECTION)('%s is an administrator’s to change, one by one and in bulk', async (field) => {
    const value = changedValue(field);
    expect(value, `give CHANGED a value of ${field}`).toBeDefined();
    const refusal = { status: 403, body: { error: 'Admin access required' } };
    expect(await create(user, { [field]: value })).toMatchObject(refusal);
    const { body: host } = await create(user);
    const path = `/proxy-hosts/${host.uuid}`;
    expect(await as(user, 'PUT', path, { [field]: value })).toMatchObject(refusal);
    const bulk = { uuids: [host.uuid], patch: { name: 'x', [field]: value } };
    expect(await as(user, 'POST', '/proxy-hosts/bulk', bulk)).toMatchObject(refusal);
    expect((await as(user, 'GET', path)).body).toMatchObject({ [field]: host[field], name: '' });
    expect(await as(admin, 'PUT', path, { [field]: value })).toMatchObject({ status: 200, body: { [field]: value } });
    expect(await as(user, 'PUT', path, { [field]: host[field] })).toMatchObject(refusal);
    // What GET gave can be put back: nothing of it is a change.
    const { body: shown } = await as(user, 'GET', path);
    expect((await as(user, 'PUT', path, { ...shown, name: 'mine' })).status).toBe(200);
  });

  test('a protected name is not freed by deleting, renaming or covering its host', async () => {
    const { body: host } = await create(admin, {
      domain: 'secret.example.com,also.example.com',
      access_list_id: listId,
    });
    await create(admin, { domain: '*.guarded.example.com', access_list_id: listId });
    const path = `/proxy-hosts/${host.uuid}`;
    expect((await as(user, 'DELETE', path)).status).toBe(403);
    expect((await as(user, 'POST', '/proxy-hosts/bulk-delete', { uuids: [host.uuid] })).status).toBe(403);
    expect((await as(user, 'PUT', path, { domain: 'also.example.com' })).status).toBe(403);
    expect((await as(user, 'PUT', path, { domain: `${host.domain},third.example.com` })).status).toBe(200);
    expect((await create(user, { domain: 'a.guarded.example.com' })).status).toBe(403);
    expect((await create(user, { domain: 'a.b.guarded.example.com' })).status).toBe(201);
    const { body: inside } = await create(admin, { domain: 'a.guarded.example.com' });
    // Its own name it has already; another one it would take out of the wildcard host.
    const back = { ...inside, forward_port: 9_001 };
    expect(await as(user, 'PUT', `/proxy-hosts/${inside.uuid}`, back)).toMatchObject({ status: 200 });
    const more = { domain: `${inside.domain},b.guarded.example.com` };
    expect((await as(user, 'PUT', `/proxy-hosts/${inside.uuid}`, more)).status).toBe(403);
    expect((await as(admin, 'DELETE', path)).status).toBe(204);
  });

  test('a host that may have a reserved origin keeps nobody out: it can be renamed and deleted', async () => {
    const { body: host } = await create(admin, { domain: 'old.example.com', forward_reserved: true });
    const path = `/proxy-hosts/${host.uuid}`;
    expect((await as(user, 'PUT', path, { domain: 'new.example.com' })).status).toBe(200);
    expect((await as(user, 'DELETE', path)).status).toBe(204);
  });

  test.each([
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '[fe80::1]',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    '100.100.100.200',
    '168.63.129.16',
  ])('an origin at %s takes an administrator who says so', async (forward_host) => {
    for (const who of [user, admin]) {
      const answer = await create(who, { forward_host, forward_port: 80 });
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.stringContaining('forward_host is a link-local or metadata address'),
      ]);
    }
    const { status, body } = await create(admin, { forward_host, forward_port: 80, forward_reserved: true });
    expect(status).toBe(201);
    const path = `/proxy-hosts/${body.uuid}`;
    // It would be a way to the other reserved addresses.
    expect((await as(user, 'PUT', path, { forward_host: '169.254.170.2' })).status).toBe(403);
    expect((await as(user, 'PUT', path, { forward_port: 81 })).status).toBe(403);
    expect((await as(admin, 'PUT', path, { forward_reserved: false })).status).toBe(400);
    expect((await as(admin, 'PUT', path, { forward_reserved: false, forward_host: '192.168.1.1' })).status).toBe(200);
  });

  test('a host from before that rule can be changed in everything but its origin', async () => {
    const { body } = await create(admin, { forward_host: '169.254.169.254', forward_reserved: true });
    const database = openDatabase(app.config);
    await database.kysely.updateTable('proxy_hosts').set({ forward_reserved: 0 }).where('id', '=', body.id).execute();
    await database.stop();
    const path = `/proxy-hosts/${body.uuid}`;
    const { body: shown } = await as(user, 'GET', path);
    expect(shown.forward_reserved).toBe(false);
    expect(await as(user, 'PUT', path, { ...shown, enabled: false })).toMatchObject({ status: 200 });
    expect((await as(user, 'PUT', path, { forward_port: 81 })).status).toBe(400);
  });

  test('our own listeners are no origin either', async () => {
    const port = Number(new URL(app.url).port);
    for (const forward_host of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '0.0.0.0']) {
      for (const forward_port of [port, 80, 443]) {
        const answer = await create(admin, { forward_host, forward_port });
        expect([answer.status, answer.body.error], `${forward_host}:${forward_port}`).toEqual([
          400,
          expect.stringContaining("one of Sallyport's own listeners"),
        ]);
      }
    }
    expect((await create(admin, { forward_port: port, forward_reserved: true })).status).toBe(201);
    expect((await create(user, { forward_port: port === 65_535 ? port - 1 : port + 1 })).status).toBe(201);
  });
});
