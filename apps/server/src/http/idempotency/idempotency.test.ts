import { createVault } from '@sallyport/store/secrets/vault';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../test/support/certificates.ts';
import { type Caller, createGiven } from '../../testing/given-accounts.ts';
import { emptyStore, onBothDatabases, startApp, type TestApp } from '../../testing/start-app.ts';
import { withTables } from '../../testing/with-store.ts';
import { createIdempotency } from './service.ts';
import { idempotencyStore } from './store.ts';

type Fields = Record<string, unknown>;

const HOUR_MS = 3_600_000;

onBothDatabases('Idempotency-Key', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let other: Caller;
  let now = Date.now();
  let serial = 0;

  const post = (path: string, body: unknown, key: string, caller = admin) =>
    app.send<Fields>('POST', path, body, { ...caller.headers, 'idempotency-key': key });
  const newKey = () => {
    serial += 1;
    return `key ${serial}`;
  };
  const host = (domain: string) => ({ domain, forward_host: '127.0.0.1', forward_port: 9 });
  const count = async (path: string) =>
    Number((await app.send('GET', path, undefined, admin.headers)).headers.get('x-total-count'));

  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 'x'.repeat(40) }, { clock: () => new Date(now) });
    const given = createGiven(app);
    admin = await given.administrator();
    other = await given.caller('admin');
  });
  afterAll(() => app.stop());

  test('gives the same answer to the same request, on every route that creates', async () => {
    const form = makeCertificate(['once.example.com']);
    for (const [path, body] of [
      ['/proxy-hosts', () => host('once.example.com')],
      ['/remote-servers', () => ({ name: 'm', host: '127.0.0.1', port: 9 })],
      ['/access-lists', () => ({ name: 'once', type: 'deny' })],
      ['/dns-providers', () => ({ name: 'once', type: 'webhook', fields: { url: 'https://dns.example.com/' } })],
      ['/users', () => ({ email: 'once@example.com', password: 'a long password' })],
      ['/users/invite', () => ({ email: 'invited@example.com' })],
      ['/tokens', () => ({ name: 'once' })],
      ['/security/decisions', () => ({ ip: '192.0.2.9', action: 'block' })],
      ['/security/exclusions', () => ({ rule_id: 942_100 })],
      ['/certificates/upload', () => uploadForm('once', form)],
    ] as const) {
      const key = newKey();
      const first = await post(path, body(), key);
      expect(first.status, `${path} ${JSON.stringify(first.body)}`).toBe(201);
      expect(first.headers.get('idempotency-replayed'), path).toBeNull();
      const again = await post(path, body(), key);
      expect(again, path).toMatchObject({ status: 201, body: first.body });
      expect(again.headers.get('idempotency-replayed'), path).toBe('true');
      for (const name of ['location', 'etag', 'content-type', 'x-sallyport-batch'])
        expect(again.headers.get(name), `${path} ${name}`).toBe(first.headers.get(name));
    }
  });

  test('a restart changes nothing', async () => {
    const key = newKey();
    const first = await post('/tokens', { name: 'kept' }, key);
    await app.restart();
    const again = await post('/tokens', { name: 'kept' }, key);
    expect(again).toMatchObject({ status: 201, body: { token: first.body.token } });
  });

  test('of many at once one is made, and all get its answer', async () => {
    const key = newKey();
    const before = await count('/remote-servers');
    const body = { name: 'at once', host: '127.0.0.1', port: 9 };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('/remote-servers', body, key)));
    expect(new Set(answers.map(({ status, body: made }) => `${status} ${made.uuid}`)).size).toBe(1);
    expect(await count('/remote-servers')).toBe(before + 1);
  });

  test('refuses the key for another request: body, path or query', async () => {
    const key = newKey();
    expect((await post('/proxy-hosts', host('first.example.com'), key)).status).toBe(201);
    expect(await post('/proxy-hosts', host('second.example.com'), key)).toMatchObject({
      status: 422,
      body: { code: 422, error: expect.stringContaining('Idempotency-Key') },
    });
    expect((await post('/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 }, key)).status).toBe(422);
  });

  test('a key is its caller’s own', async () => {
    const key = newKey();
    const mine = await post('/tokens', { name: 'mine' }, key);
    const theirs = await post('/tokens', { name: 'mine' }, key, other);
    expect(theirs.status).toBe(201);
    expect(theirs.body.token).not.toBe(mine.body.token);
  });

  test('what was refused may be tried again with the same key', async () => {
    const key = newKey();
    expect((await post('/proxy-hosts', host('once.example.com'), key)).status).toBe(409);
    expect((await post('/proxy-hosts', { domain: 'x' }, key)).status).toBe(400);
    expect((await post('/proxy-hosts', host('free.example.com'), key)).status).toBe(201);
  });

  test('is forgotten after a day', async () => {
    const key = newKey();
    const body = { name: 'daily', host: '127.0.0.1', port: 9 };
    const first = await post('/remote-servers', body, key);
    now += 23 * HOUR_MS;
    const caller = await createGiven(app).signIn(admin.user.email);
    expect((await post('/remote-servers', body, key, caller)).body.uuid).toBe(first.body.uuid);
    now += 2 * HOUR_MS;
    const later = await createGiven(app).signIn(admin.user.email);
    expect((await post('/remote-servers', body, key, later)).body.uuid).not.toBe(first.body.uuid);
    admin = later;
  });

  test.each(['', ' ', 'é', 'x'.repeat(256)])('refuses the key %j', async (key) => {
    const { origin } = new URL(app.url);
    const answer = await fetch(`${origin}/api/v1/remote-servers`, {
      method: 'POST',
      headers: { ...admin.headers, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ name: 'm', host: '127.0.0.1', port: 9 }),
    });
    expect(answer.status).toBe(400);
  });
});

onBothDatabases('a request that a crash cut off', (kind) => {
  test('is made again when it made nothing, and refused with its place when it did', () =>
    emptyStore(kind, (config) =>
      withTables(config, async (database) => {
        let now = Date.now();
        const processOf = () =>
          createIdempotency({
            db: database.kysely,
            store: idempotencyStore,
            vault: createVault('k'.repeat(32)),
            clock: () => new Date(now),
          });
        const [crashed, next] = [processOf(), processOf()];
        await crashed.begin('nothing', 'f');
        await crashed.begin('made', 'f');
        await database.transact((tx) => idempotencyStore(tx).noteMade('made', 'proxy-hosts/u'));
        await expect(next.begin('nothing', 'f')).rejects.toMatchObject({
          status: 409,
          headers: { 'retry-after': '5' },
        });
        await expect(next.begin('nothing', 'g')).rejects.toMatchObject({ status: 422 });
        const lost = { status: 409, headers: { location: '/api/v1/proxy-hosts/u' } };
        await expect(next.begin('made', 'f')).rejects.toMatchObject(lost);
        now += 3 * 60_000;
        expect(await next.begin('nothing', 'f')).toHaveProperty('finish');
        await expect(next.begin('made', 'f')).rejects.toMatchObject(lost);
        await crashed.begin('alone', 'f');
        await next.forgetUnanswered();
        expect(await processOf().begin('alone', 'f')).toHaveProperty('finish');
      }),
    ));
});
