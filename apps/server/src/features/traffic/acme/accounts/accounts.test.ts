import { createServer, type Server } from 'node:net';
import type { AcmeAccount, AcmeAccountInUse, AuditEntry, ErrorBody } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../../../../../../../test/support/free-ports.ts';
import { type Pebble, startPebble } from '../../../../../../../test/support/start-pebble.ts';
import { createGiven } from '../../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../../testing/start-app.ts';

const HMAC_KEY = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W';
const OTHER_HMAC_KEY = 'bm90IHRoZSBrZXkgdGhhdCB0aGUgYXV0aG9yaXR5IGhhcw';

let pebble: Pebble;
let binding: Pebble;
beforeAll(async () => {
  [pebble, binding] = await Promise.all([startPebble(), startPebble({ externalAccounts: { 'kid-1': HMAC_KEY } })]);
}, 90_000);
afterAll(() => Promise.all([pebble?.stop(), binding?.stop()]));

onBothDatabases('accounts with authorities', (kind) => {
  let app: TestApp;
  let given: ReturnType<typeof createGiven>;
  beforeAll(async () => {
    app = await startApp(kind);
    given = createGiven(app);
  });
  afterAll(() => app.stop());

  const wanted = (more: object = {}) => ({
    name: 'Test authority',
    directory_url: pebble.directoryUrl,
    ca_certificate: pebble.ca,
    email: 'Admin@Example.com',
    terms_agreed: true,
    ...more,
  });
  const add = <T = AcmeAccount>(more: object = {}, headers = {}) =>
    app.send<T>('POST', '/acme/accounts', wanted(more), headers);
  const list = async () => (await app.send<AcmeAccount[]>('GET', '/acme/accounts')).body;

  test('are registered at once, kept without showing their key, renamed and deleted', async () => {
    const key = { 'idempotency-key': `account-${kind}` };
    const { status, headers, body } = await add({}, key);
    expect(body).toMatchObject({ name: 'Test authority', email: 'admin@example.com', registered: true, eab_kid: null });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/acme/accounts/${body.uuid}`);
    expect((await add({}, key)).body).toEqual(body);
    const path = `/acme/accounts/${body.id}`;
    const shown = await app.send<AcmeAccountInUse>('GET', path);
    expect(shown.body).toMatchObject({ uuid: body.uuid, used_by: [], used_by_total: 0 });
    expect(JSON.stringify(shown.body)).not.toMatch(/PRIVATE|sealed/);
    expect(await add<ErrorBody>()).toMatchObject({
      status: 409,
      body: { error: 'name Test authority belongs to another account' },
    });

    const renamed = await app.send<AcmeAccount>('PUT', path, { ...shown.body, name: 'Another name' });
    expect(renamed.body).toMatchObject({ name: 'Another name' });
    expect(await app.send('PUT', path, { name: 'X' }, { 'if-match': shown.headers.get('etag') ?? '' })).toMatchObject({
      status: 412,
    });
    const moved = await app.send<ErrorBody>('PUT', path, { directory_url: 'letsencrypt' });
    expect(moved.status).toBe(400);
    expect(moved.body.error).toMatch(/^directory_url is what the authority registered/);

    expect((await app.send('DELETE', path)).status).toBe(204);
    expect(await list()).toEqual([]);
    const admin = await given.administrator();
    const entries = (await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, admin.headers)).body;
    expect(JSON.stringify(entries)).not.toMatch(/PRIVATE|sealed/);
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['acme_account.create', 'acme_account.update', 'acme_account.delete']),
    );
  });

  test('that an authority binds to one that its owner has with it need what it gave', async () => {
    const at = { name: 'Bound', directory_url: binding.directoryUrl, ca_certificate: binding.ca };
    const without = await add<ErrorBody>(at);
    expect(without).toMatchObject({ status: 400 });
    expect(without.body.error).toMatch(/^eab_kid is required/);
    const unknown = await add<ErrorBody>({ ...at, eab_kid: 'kid-2', eab_hmac_key: HMAC_KEY });
    expect(unknown.status).toBe(400);
    expect(unknown.body.error).toMatch(/^eab_/);
    const wrong = await add<ErrorBody>({ ...at, eab_kid: 'kid-1', eab_hmac_key: OTHER_HMAC_KEY });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toMatch(/^eab_hmac_key/);
    expect(await list()).toEqual([]);
    const right = await add({ ...at, eab_kid: 'kid-1', eab_hmac_key: HMAC_KEY });
    expect(right).toMatchObject({ status: 201, body: { eab_kid: 'kid-1', registered: true } });
    expect(JSON.stringify(right.body)).not.toContain(HMAC_KEY);
    expect((await app.send('DELETE', `/acme/accounts/${right.body.uuid}`)).status).toBe(204);
  });

  test.each([
    ['terms that are not agreed to', { terms_agreed: false }, /^terms_agreed must be true.*terms of service/],
    ['an empty name', { name: '  ' }, /^name is required/],
    [
      'plain HTTP',
      { directory_url: 'http://127.0.0.1/dir' },
      /^directory_url must be an https URL, or one of letsencr/,
    ],
    ['credentials in the URL', { directory_url: 'https://a:b@127.0.0.1/dir' }, /^directory_url must not hold/],
    ['a metadata address', { directory_url: 'https://169.254.169.254/dir' }, /^directory_url: .*metadata/],
    ['another authority certificate', { ca_certificate: null }, /^directory_url: .*TLS failed/],
    ['an e-mail that is none', { email: 'nobody' }, /^email must be/],
    ['half a binding', { eab_kid: 'x' }, /^eab_hmac_key is required/],
    ['a key that is no base64', { eab_kid: 'x', eab_hmac_key: '%%' }, /^eab_hmac_key is not base64url/],
    ['roots that are none', { ca_certificate: 'hello' }, /^ca_certificate must be/],
    ['a path that is no directory', { path: '/roots' }, /^directory_url: /],
  ])('refuses %s and stores nothing', async (_what, { path, ...more }: Record<string, unknown>, message) => {
    const at = path === undefined ? {} : { directory_url: new URL(String(path), pebble.directoryUrl).href };
    const { status, body } = await add<ErrorBody>({ ...at, ...more });
    expect(body.error).toMatch(message);
    expect(status).toBe(400);
    expect(await list()).toEqual([]);
  });

  test('are not made at an authority that nobody reaches, or that talks of something else', async () => {
    const [port = 0] = await freePorts(1);
    const nobody = await add<ErrorBody>({ directory_url: `https://127.0.0.1:${port}/dir` });
    expect(nobody.status).toBe(400);
    expect(nobody.body.error).toMatch(/^directory_url: .*connection refused/);
    const garbage: Server = createServer((socket) =>
      socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n', () => socket.destroy()),
    );
    await new Promise<void>((resolve) => garbage.listen(port, '127.0.0.1', resolve));
    try {
      const said = await add<ErrorBody>({ directory_url: `https://127.0.0.1:${port}/dir` });
      expect(said.status).toBe(400);
      expect(said.body.error).toMatch(/^directory_url: /);
    } finally {
      await new Promise((resolve) => garbage.close(resolve));
    }
    expect(await list()).toEqual([]);
  });

  test('are not for standard users to make', async () => {
    const { headers } = await given.caller();
    expect((await add({}, headers)).status).toBe(403);
    expect((await app.send('GET', '/acme/accounts', undefined, headers)).status).toBe(200);
  });
});
