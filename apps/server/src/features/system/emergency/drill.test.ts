import { createServer, type Server, type Socket } from 'node:net';
import { createReceipts } from '@sallyport/backup/shelf/receipts';
import type { AuditEntry, EmergencyDrill, EmergencyStatus } from '@sallyport/contract';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { drillStore } from '@sallyport/store/emergency-drills';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { bearer, type Caller, createGiven, fromOutside } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { startEnforced } from '../../../testing/start-enforced.ts';

// The server starts several times in one test.
const TOKEN = 'e'.repeat(64);
const PATH = '/emergency/drill';
const DAY_MS = 86_400_000;

onBothDatabases('the drill of the emergency path', (kind) => {
  let app: TestApp;
  let given: ReturnType<typeof createGiven>;
  let admin: Caller;
  let now = Date.now();
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    now = Date.now();
  });

  const start = async (env: Record<string, string> = {}) => {
    app = await startApp(kind, { SALLYPORT_EMERGENCY_TOKEN: TOKEN, ...env }, { clock: () => new Date(now) });
    ends.push(() => app.stop());
    given = createGiven(app);
    admin = await given.administrator();
  };
  const drill = (headers = admin.headers) => app.send<EmergencyDrill>('POST', PATH, undefined, headers);
  const status = async () => (await app.send<EmergencyStatus>('GET', '/emergency/status')).body;
  const open = (): Database => {
    const database = openDatabase(app.config);
    ends.push(() => database.stop());
    return database;
  };
  const checkOf = ({ checks }: EmergencyDrill, name: string) => checks.find((check) => check.name === name);

  /** A peer that takes connections and says nothing. */
  const givenSilence = async (): Promise<string> => {
    const sockets: Socket[] = [];
    const server: Server = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `127.0.0.1:${(server.address() as { port: number }).port}`;
  };

  test('tells each thing that is amiss and what to do, changes nothing, and is written down', async () => {
    await start({ SALLYPORT_EMERGENCY_BIND: await givenSilence(), SALLYPORT_MANAGEMENT_CIDRS: '192.168.7.0/24' });
    const settings = (await app.send('GET', '/settings', undefined, admin.headers)).body;
    const { status: code, body } = await drill();
    expect(code).toBe(200);
    expect(body).toEqual({
      ok: false,
      proven_at: null,
      checks: [
        { name: 'token', ok: true, message: expect.any(String) },
        { name: 'listener', ok: false, message: expect.stringContaining('no answer within 2 seconds') },
        {
          name: 'management',
          ok: false,
          message: expect.stringContaining('add 127.0.0.1 to SALLYPORT_MANAGEMENT_CIDRS'),
        },
        { name: 'store', ok: true, message: expect.any(String) },
        { name: 'disk', ok: true, message: expect.any(String) },
        { name: 'proxy', ok: false, message: expect.stringContaining('sallyport status') },
        { name: 'switches', ok: false, message: expect.stringContaining('HAProxy') },
        { name: 'shell', ok: false, message: expect.stringContaining(`--data-dir ${app.dataDir}`) },
        { name: 'backup', ok: false, message: expect.stringContaining('No backup') },
        { name: 'copies', ok: true, message: expect.stringContaining('backup.copy_url is not set') },
      ],
    });
    expect(JSON.stringify(body)).not.toContain(TOKEN);
    expect(await status()).toMatchObject({ last_proven_at: null });
    expect((await app.send('GET', '/settings', undefined, admin.headers)).body).toEqual(settings);
    const [entry] = (await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, admin.headers)).body;
    expect(entry).toMatchObject({ action: 'emergency.drill', resource: 'emergency', method: 'POST' });
    expect(JSON.stringify(entry?.details)).toContain('listener');
  });

  test('is for administrators, by token as well; one at a time, and not again at once', async () => {
    await start({ SALLYPORT_EMERGENCY_BIND: await givenSilence() });
    expect((await drill((await given.caller()).headers)).status).toBe(403);
    expect((await drill({})).status).toBe(403);
    expect((await drill(fromOutside())).status).toBe(403);
    const { token } = await given.apiToken(admin, 'admin');
    const [one, other] = await Promise.all([drill(bearer(token)), drill(bearer(token))]);
    expect([one.status, other.status].sort()).toEqual([200, 409]);
    const again = await drill();
    expect(again.status).toBe(429);
    expect(again.headers.get('retry-after')).toBe('10');
    await app.restart();
    expect((await drill(bearer(token))).status).toBe(429);
    now += 10_000;
    expect((await drill(bearer(token))).status).toBe(200);
    // A clock that went wrong must not forbid drills until then.
    now -= 3_600_000;
    expect((await drill(bearer(token))).status).toBe(200);
  });

  test('tells that the store, or the audit trail, can not be written, and answers', async () => {
    await start();
    const { kysely } = open();
    const rename = (from: string, to: string) => sql.raw(`alter table ${from} rename to ${to}`).execute(kysely);
    for (const table of ['emergency_drills', 'audit_logs']) {
      await rename(table, 'away');
      const { status: code, body } = await drill();
      await rename('away', table);
      expect(code, table).toBe(200);
      expect(checkOf(body, 'store'), table).toEqual({
        name: 'store',
        ok: false,
        message: expect.stringContaining('can not be written'),
      });
      now += 10_000;
    }
    expect(checkOf((await drill()).body, 'store')).toMatchObject({ ok: true });
  });

  test('knows whether HAProxy does what the switches say', async () => {
    await start();
    const haproxy = await startEnforced(app.config);
    ends.push(haproxy.stop);
    const looked = async () => {
      const { body } = await drill();
      now += 10_000;
      expect(checkOf(body, 'proxy')).toMatchObject({ ok: true });
      return checkOf(body, 'switches');
    };
    expect(await looked()).toMatchObject({ ok: true });
    await app.send('POST', '/security/config', { admin_whitelist: '127.0.0.1' }, admin.headers);
    for (const key of ['security.rate_limit.enabled', 'feature.guard.enabled']) {
      await app.send('POST', '/settings', { key, value: 'true' }, admin.headers);
    }
    await expect.poll(haproxy.limit).toBeGreaterThan(0);
    expect(await looked()).toMatchObject({ ok: true });
    // Behind the back of the server, which thinks that it told HAProxy. Once it tells a HAProxy that it has just met everything anew.
    const lookedBehindItsBack = async () => {
      await haproxy.plane.applyRateLimit(null);
      return looked();
    };
    await expect.poll(lookedBehindItsBack).toEqual({
      name: 'switches',
      ok: false,
      message: expect.stringContaining('security.rate_limit.enabled is not in force though it is stored as on'),
    });
  });

  test('that succeeded is remembered; once a day somebody is told when that is long ago', async () => {
    await start();
    const told = async (): Promise<string[]> => {
      const { WebSocket } = await import('ws');
      const live = new WebSocket(`${app.url.replace('http', 'ws')}/api/v1/logs/live?backlog=500`);
      const messages: string[] = [];
      live.on('message', (data) => {
        const { message, fields } = JSON.parse(String(data)) as { message: string; fields: { event?: string } };
        if (fields.event === 'emergency_unproven') messages.push(message);
      });
      await new Promise((resolve) => live.once('open', resolve));
      // The backlog is sent before the answer to anything that comes later.
      await new Promise((resolve) => {
        live.once('pong', resolve);
        live.ping();
      });
      live.close();
      return messages;
    };
    const later = async (days: number) => {
      now += days * DAY_MS;
      await app.restart();
    };

    await later(29);
    expect(await told()).toEqual([]);
    await later(2);
    await expect.poll(told).toEqual([expect.stringContaining('has never been proven')]);
    await later(0);
    expect(await told()).toEqual([]);
    await later(1);
    await expect.poll(told).toHaveLength(1);

    const proven = new Date(now).toISOString();
    await drillStore(open().kysely).prove(proven);
    expect(await status()).toMatchObject({ last_proven_at: proven });
    await later(30);
    expect(await status()).toMatchObject({ last_proven_at: proven });
    expect(await told()).toEqual([]);
    await later(1);
    await expect.poll(told).toEqual([expect.stringContaining('was last proven 31 days ago')]);
  });

  test('is asked of nobody who has not set the path up', async () => {
    await start({ SALLYPORT_EMERGENCY_TOKEN: '' });
    now += 40 * DAY_MS;
    await app.restart();
    expect((await drillStore(open().kysely).read())?.told_at).toBeNull();
    admin = await given.signIn(admin.user.email);
    const { body } = await drill();
    expect(checkOf(body, 'token')).toMatchObject({ ok: false });
    expect(checkOf(body, 'copies')).toMatchObject({ ok: true });
  });

  test('knows whether copies of backups arrive where they are to go', async () => {
    await start();
    const copies = async () => {
      now += 10_000;
      return checkOf((await drill()).body, 'copies');
    };
    const to = 'https://192.0.2.1/kept';
    await app.send('POST', '/settings', { key: 'backup.copy_url', value: to }, admin.headers);
    expect(await copies()).toMatchObject({ ok: false, message: expect.stringContaining('No backup was copied') });
    const { write } = createReceipts(app.dataDir);
    const receipt = { name: 'sallyport-20260101-000000-manual-abcdef.backup', to };
    await write({ ...receipt, copied_at: new Date(now).toISOString() });
    expect(await copies()).toMatchObject({ ok: true });
    await write({ ...receipt, copied_at: new Date(now - DAY_MS).toISOString() });
    expect(await copies()).toMatchObject({ ok: false, message: expect.stringContaining('copy_problem') });
    // One that was cut off is none.
    await write({ ...receipt, copied_at: null });
    expect(await copies()).toMatchObject({ ok: false, message: expect.stringContaining('No backup was copied') });
  });
});
