import type { AccessList, Confirmation, ErrorBody, HistoryEntry, ProxyHost } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { until } from '../../../../../../test/support/until.ts';
import { startServer } from '../../../server.ts';
import { fromOutside } from '../../../testing/given-accounts.ts';
import { givenHistory } from '../../../testing/given-history.ts';
import { onBothDatabases, startApp } from '../../../testing/start-app.ts';

/** On this host, without credentials: what locks users out locks nobody out here. */
const LOCAL = {};
const HOST = { domain: 'one.example.com', forward_host: '192.0.2.1', forward_port: 80 };

onBothDatabases('a change that has to be confirmed', (kind) => {
  let now = Date.parse('2026-03-01T12:00:00.000Z');
  const { here, send, call } = givenHistory(
    kind,
    { SALLYPORT_SESSION_SECRET: 's'.repeat(32) },
    { clock: () => new Date(now) },
  );
  /** Makes a change that goes back after a minute; the id to confirm. */
  const change = async (
    method: string,
    path: string,
    body?: unknown,
    headers = here().admin.headers,
  ): Promise<string> => {
    const answer = await send(method, `${path}?confirm_within=60`, body, headers);
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    expect(answer.headers.get('x-sallyport-reverts-at')).toBe(new Date(now + 60_000).toISOString());
    const id = answer.headers.get('x-sallyport-confirm') ?? '';
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    return id;
  };
  const confirm = (id: string, headers = here().admin.headers) =>
    send<ErrorBody>('POST', `/security/confirm/${id}`, undefined, headers);
  const pending = (headers = here().admin.headers) =>
    call<Confirmation[]>('GET', '/security/confirm', undefined, headers);
  const settled = () => until('nothing waits', async () => (await pending(LOCAL)).length === 0, 20_000);
  const newHost = () => call<ProxyHost>('POST', '/proxy-hosts', HOST);
  const portOf = async (uuid: string) => (await call<ProxyHost>('GET', `/proxy-hosts/${uuid}`)).forward_port;

  test('stays when it is confirmed in time', async () => {
    const { uuid } = await newHost();
    const id = await change('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 });
    expect(await pending()).toEqual([
      {
        id,
        actor: 'admin@example.com',
        created_at: new Date(now).toISOString(),
        reverts_at: new Date(now + 60_000).toISOString(),
        resources: [`proxy-hosts/${uuid}`],
        attempts: 0,
        issue: null,
      },
    ]);
    expect((await confirm(id)).status).toBe(204);
    expect((await confirm(id)).status).toBe(404);
    expect(await pending()).toEqual([]);
    now += 3_600_000;
    await here().app.restart();
    expect(await portOf(uuid)).toBe(81);
    const audit = await call<{ action: string; resource: string }[]>('GET', '/audit-logs?limit=1');
    expect(audit[0]).toMatchObject({ action: 'change.confirm', resource: `security/confirm/${id}` });
  });

  test('goes back when nobody confirms it, is written down and told', async () => {
    const list = await call<AccessList>('POST', '/access-lists', { name: 'office', type: 'allow' });
    await change('PUT', `/access-lists/${list.id}`, { rules: [{ cidr: '192.0.2.0/24' }] });
    await change('POST', '/security/decisions', { ip: '198.51.100.0/24', action: 'block' });
    const gone = await change(
      'DELETE',
      `/access-lists/${(await call<AccessList>('POST', '/access-lists', { name: 'b', type: 'deny' })).id}`,
    );
    await change('POST', '/access-lists', { name: 'new', type: 'deny' });
    await change('POST', '/settings', { key: 'auth.require_totp', value: 'true' });
    // Now its maker can do nothing any more, and can't confirm.
    expect((await send('GET', '/access-lists')).status).toBe(403);
    now += 61_000;
    await settled();
    const lists = await call<AccessList[]>('GET', '/access-lists');
    expect(lists.map(({ name, rules }) => [name, rules])).toEqual([
      ['office', []],
      ['b', []],
    ]);
    expect(await call('GET', '/security/decisions')).toMatchObject({ decisions: [] });
    expect((await confirm(gone)).status).toBe(404);
    const [newest] = await call<HistoryEntry[]>('GET', '/history?per_page=1');
    expect(newest?.actor).toBe('not confirmed');
    expect(newest?.reverts).not.toBeNull();
    const audit = await call<{ action: string; actor: string }[]>('GET', '/audit-logs?action=change.not_confirmed');
    expect(audit).toHaveLength(5);
    expect(audit[0]?.actor).toBe('not confirmed');
  });

  test('switching the suite on or off, and its configuration, go back', async () => {
    const state = async () => (await call<{ enabled: boolean }>('GET', '/security/status')).enabled;
    await call('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
    await change('POST', '/security/enable', {});
    expect(await state()).toBe(true);
    now += 61_000;
    await settled();
    expect(await state()).toBe(false);
    await call('POST', '/security/enable', {});
    // Both at once: one request, one confirmation.
    await change('POST', '/security/config', { enabled: false, admin_whitelist: '' });
    expect((await pending())[0]?.resources).toHaveLength(2);
    now += 61_000;
    await settled();
    expect(await state()).toBe(true);
    const { config } = await call<{ config: { admin_whitelist: string } }>('GET', '/security/config');
    expect(config.admin_whitelist).toBe('127.0.0.1');
  });

  test('goes back at the next start, before anybody is answered, when the service was away', async () => {
    const { uuid } = await newHost();
    await change('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 });
    await here().app.restart();
    expect(await portOf(uuid)).toBe(81);
    expect(await pending()).toHaveLength(1);
    // Nothing looks while it is stopped: the clock goes on between the two.
    const moment = now + 61_000;
    const [stopped] = [here().app.restart()];
    now = moment;
    await stopped;
    expect(await portOf(uuid)).toBe(80);
    expect(await pending()).toEqual([]);
  });

  test('is confirmed only by who made it, by the same way, and in time', async () => {
    const { uuid } = await newHost();
    const fromAfar = { ...here().admin.headers, ...fromOutside() };
    const id = await change('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 }, fromAfar);
    const other = await here().caller('admin');
    expect((await confirm(id, other.headers)).status).toBe(403);
    expect((await confirm(id, {})).status).toBe(403);
    const wrongWay = await confirm(id);
    expect(wrongWay.status).toBe(403);
    expect(wrongWay.body.details).toBe('the change was made directly, from elsewhere, this came on this host');
    expect((await confirm(id, fromOutside())).status).toBe(401);
    expect((await confirm('x')).status).toBe(400);
    expect((await confirm(uuid)).status).toBe(404);
    const user = await here().caller();
    expect(await pending(user.headers)).toEqual([]);
    // Another session of the same person is the same person.
    expect(
      (await confirm(id, { ...(await here().signIn('admin@example.com')).headers, ...fromOutside() })).status,
    ).toBe(204);
  });

  test('keeps others from changing the same meanwhile; who takes it back ends the waiting', async () => {
    const { uuid } = await newHost();
    const id = await change('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 });
    const refused = await send<ErrorBody>('PUT', `/proxy-hosts/${uuid}`, { name: 'x' });
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain(`proxy-hosts/${uuid} waits to be confirmed`);
    expect(refused.body.details).toContain(`/security/confirm/${id}`);
    expect((await send('DELETE', `/proxy-hosts/${uuid}?confirm_within=60`)).status).toBe(409);
    await call('POST', '/proxy-hosts', { ...HOST, domain: 'two.example.com' });
    await call('POST', `/history/batches/${id}/revert`);
    expect(await pending()).toEqual([]);
    expect(await portOf(uuid)).toBe(80);
    await call('PUT', `/proxy-hosts/${uuid}`, { name: 'x' });
  });

  test('holds up no way out of a lock-out; what that changed stays', async () => {
    await call('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
    await change('POST', '/security/config', { enabled: true, waf_paranoia_level: 2 });
    await call('POST', '/security/disable', {});
    now += 61_000;
    await settled();
    expect(await call('GET', '/security/status')).toMatchObject({ enabled: false });
    expect(await call('GET', '/security/config')).toMatchObject({ config: { waf_paranoia_level: 1 } });
    const [entry] = await call<{ details: { after: { reverted: string[]; left: string[] } } }[]>(
      'GET',
      '/audit-logs?action=change.not_confirmed',
    );
    expect(entry?.details.after.reverted).toEqual(['security/config']);
    expect(entry?.details.after.left[0]).toContain('settings/feature.guard.enabled');
  });

  test('is tried again, and told, as long as it can not be taken back', async () => {
    const { uuid } = await newHost();
    await change('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 });
    const rename = (from: string, to: string) =>
      sql.raw(`alter table ${from} rename to ${to}`).execute(here().database.kysely);
    await rename('audit_logs', 'audit_logs_away');
    now += 61_000;
    await until('a failed attempt', async () => ((await pending())[0]?.attempts ?? 0) > 0, 20_000);
    expect((await pending())[0]?.issue).toMatch(/audit_logs/);
    expect(await portOf(uuid)).toBe(81);
    await rename('audit_logs_away', 'audit_logs');
    now += 6_000;
    await settled();
    expect(await portOf(uuid)).toBe(80);
  });

  test('is a parameter that is refused where it does nothing, and that has bounds', async () => {
    const { uuid } = await newHost();
    const put = (query: string) => send<ErrorBody>('PUT', `/proxy-hosts/${uuid}?${query}`, { name: 'x' });
    for (const query of ['confirm_within=9', 'confirm_within=601', 'confirm_within=x', 'confirm_within=']) {
      expect((await put(query)).status, query).toBe(400);
    }
    const elsewhere = await send<ErrorBody>('POST', '/remote-servers?confirm_within=60', {});
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.body.error).toContain('confirm_within');
    expect((await send('GET', '/proxy-hosts?confirm_within=60')).status).toBe(400);
    // Who is nobody could not confirm.
    const nobody = await send('POST', '/security/disable?confirm_within=60', {}, fromOutside());
    expect(nobody.status).toBe(401);
    // What changes nothing waits for nothing.
    const idle = await send('PUT', `/proxy-hosts/${uuid}?confirm_within=60`, { forward_port: 80 });
    expect(idle.headers.get('x-sallyport-confirm')).toBeNull();
    expect(await pending()).toEqual([]);
  });
});

test('two nodes that come to it in one moment take a change back once', async () => {
  let now = Date.parse('2026-03-01T12:00:00.000Z');
  const clock = () => new Date(now);
  const said: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
  const env = { SALLYPORT_ENCRYPTION_KEY: 'one key of both nodes 0123456789abcdef' };
  const first = await startApp('postgres', env, { clock, log });
  onTestFinished(() => first.stop());
  await withTemporaryDirectory(async (dataDir) => {
    const second = await startServer({ ...first.config, dataDir }, log, { clock });
    const database = openDatabase(first.config);
    const { kysely: db } = database;
    try {
      const { body: host } = await first.send<ProxyHost>('POST', '/proxy-hosts', HOST);
      await first.send('PUT', `/proxy-hosts/${host.uuid}?confirm_within=60`, { forward_port: 81 });
      // Both have seen that it is overdue, and wait for the lock of the store, before one of them gets it.
      await db.transaction().execute(async (tx) => {
        await sql`update revisions set revision = revision where id = 1`.execute(tx);
        now += 61_000;
        const waiting = async () => {
          const { rows } = await sql`select pid from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%revisions%'`.execute(db);
          return rows.length === 2;
        };
        await until('both wait', waiting, 60_000);
      });
      const pending = async () => (await first.send<Confirmation[]>('GET', '/security/confirm')).body;
      await until('it is taken back', async () => (await pending()).length === 0, 60_000);
      // The other one was let in after it, and is through as well.
      const busy = async () => {
        const { rows } = await sql`select pid from pg_stat_activity
          where datname = current_database() and state <> 'idle' and query like '%revisions%' and pid <> pg_backend_pid()`.execute(
          db,
        );
        return rows.length > 0;
      };
      await until('none is at it', async () => !(await busy()), 60_000);
      for (const url of [first.url, second.url]) {
        const answer = await fetch(`${url}/api/v1/proxy-hosts/${host.uuid}`);
        expect(((await answer.json()) as ProxyHost).forward_port).toBe(80);
      }
      const history = (await first.send<HistoryEntry[]>('GET', `/proxy-hosts/${host.uuid}/history`)).body;
      expect(history.map(({ actor }) => actor)).toEqual(['not confirmed', 'local', 'local']);
      const noted = await db
        .selectFrom('audit_logs')
        .select('id')
        .where('action', '=', 'change.not_confirmed')
        .execute();
      expect(noted).toHaveLength(1);
      expect(said.filter((line) => line.includes('is taken back'))).toHaveLength(1);
      expect(said.filter((line) => line.includes('can not be taken back'))).toEqual([]);
    } finally {
      await database.stop();
      await second.stop();
    }
  });
});
