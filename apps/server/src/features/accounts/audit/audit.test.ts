import type { AuditEntry } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { openVault, type Vault } from '@sallyport/store/secrets/vault';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Caller, createGiven, fromOutside } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('the audit trail', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let database: Database;
  let vault: Vault;
  let now = Date.parse('2026-03-01T12:00:00.000Z');

  const open = () =>
    createAudit({
      db: database.kysely,
      transactAside: database.transactAside,
      store: auditStore,
      vault,
      clock: () => new Date(now),
    });

  beforeEach(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) }, { clock: () => new Date(now) });
    admin = await createGiven(app).administrator();
    database = openDatabase(app.config);
    vault = openVault(app.config);
  });
  afterEach(async () => {
    await database.stop();
    await app.stop();
  });

  const entries = async (query = '') =>
    (await app.send<AuditEntry[]>('GET', `/audit-logs${query}`, undefined, admin.headers)).body;
  const setting = (key: string, value: string) => app.send('POST', '/settings', { key, value }, admin.headers);
  const note = (action: string, more: object = {}) =>
    open().note({ action, actor: systemActor('test'), resource: 'test', ...more });

  test('tells who changed what, from where, and what it was before', async () => {
    await setting('smtp.host', 'one.example');
    await app.send(
      'POST',
      '/settings',
      { key: 'smtp.host', value: 'two.example' },
      {
        ...admin.headers,
        ...fromOutside('203.0.113.9'),
        'user-agent': 'test agent',
      },
    );
    const [entry] = await entries('?limit=1');
    expect(entry).toEqual({
      id: expect.any(Number),
      action: 'setting.set',
      actor: 'admin@example.com',
      ip: '203.0.113.9',
      user_agent: 'test agent',
      method: 'POST',
      path: '/api/v1/settings',
      resource: 'settings/smtp.host',
      details: { before: { value: 'one.example' }, after: { value: 'two.example' } },
      timestamp: new Date(now).toISOString(),
    });
  });

  test('names the local host and API tokens as actors', async () => {
    const { token } = await createGiven(app).apiToken(admin, 'admin');
    await app.send(
      'POST',
      '/settings',
      { key: 'smtp.from', value: 'x@example.com' },
      { authorization: `Bearer ${token}` },
    );
    const host = { domain: 'a.example.com', forward_host: '127.0.0.1', forward_port: 9 };
    await app.send('POST', '/proxy-hosts', host);
    const [second, first] = await entries();
    expect(first?.actor).toBe('admin@example.com (token admin)');
    expect(second).toMatchObject({ actor: 'local', action: 'proxy_host.create', details: { after: host } });
  });

  test('never holds a secret, neither old nor new', async () => {
    await setting('smtp.password', 'first-smtp-secret');
    await setting('smtp.password', 'second-smtp-secret');
    await note('test.secrets', {
      before: { webhook_secret: 'first-hook-secret', api: { token: 'nested-secret' } },
      after: { webhook_secret: 'second-hook-secret', api: { token: 'other-secret' }, password_set: true },
    });
    const text = JSON.stringify(await entries());
    expect(text).not.toMatch(/smtp-secret|hook-secret|nested-secret|other-secret/);
    expect((await entries())[0]?.details).toEqual({
      before: { webhook_secret: '***', api: { token: '***' } },
      after: { webhook_secret: '***', api: { token: '***' }, password_set: true },
    });
  });

  test('is read newest first, by time, action and in parts', async () => {
    await app.send('GET', '/health');
    for (let n = 0; n < 5; n += 1) {
      now += 60_000;
      await note('test.tick', { after: { n } });
    }
    const at = (minutes: number) => new Date(Date.parse('2026-03-01T12:00:00Z') + minutes * 60_000).toISOString();
    now = Date.parse('2026-03-01T12:00:00.000Z');
    const ticks = async (query: string) =>
      (await entries(`?action=test.tick&${query}`)).map(({ details }) => details.after?.n);
    expect(await ticks('')).toEqual([4, 3, 2, 1, 0]);
    expect(await ticks(`start=${at(3)}`)).toEqual([4, 3, 2]);
    expect(await ticks(`end=${at(3)}`)).toEqual([2, 1, 0]);
    expect(await ticks(`start=${at(2)}&end=${at(4)}`)).toEqual([3, 2, 1]);
    expect(await ticks(`start=2026-03-01T14:04:00%2B02:00`)).toEqual([4, 3]);
    expect(await ticks('limit=2')).toEqual([4, 3]);
    const [, second] = await entries('?action=test.tick&limit=2');
    expect(await ticks(`before_id=${second?.id}`)).toEqual([2, 1, 0]);
    expect(await ticks('start=2027-01-01')).toEqual([]);
    for (const query of ['?start=yesterday', '?end=2026-13-01', '?start=1', '?limit=0', '?limit=1001', '?limit=x']) {
      const answer = await app.send<{ error: string }>('GET', `/audit-logs${query}`, undefined, admin.headers);
      expect(answer.status, query).toBe(400);
    }
  });

  test('writes nothing when the change it belongs to is not made', async () => {
    const before = await entries();
    await setting('smtp.port', 'no port');
    const [first] = await entries();
    expect(first).toEqual(before[0]);
  });

  test('keeps one unbroken chain, also of many changes at once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => setting('smtp.host', `host-${n}.example`)));
    expect(await open().verify()).toEqual({ ok: true, entries: (await entries('?limit=1000')).length });
  });

  test.each([
    ['an entry that was changed', "update audit_logs set actor = 'somebody else' where id = 2", 2],
    ['details that were changed', "update audit_logs set details = '{}' where id = 3", 3],
    ['an entry that was removed', 'delete from audit_logs where id = 2', 2],
    ['entries cut off at the end', 'delete from audit_logs where id > 2', 3],
    ['entries cut off at the start', 'delete from audit_logs where id < 3', 1],
    ['all entries removed', 'delete from audit_logs', 1],
    [
      'a head that was set back',
      'update audit_chain set head_id = 2, head_hash = (select hash from audit_logs where id = 2)',
      2,
    ],
    [
      'an anchor that was made up',
      'update audit_chain set anchor_id = 2, anchor_hash = (select hash from audit_logs where id = 2)',
      2,
    ],
    [
      'an entry that was added at the end',
      "insert into audit_logs select 2000000000, timestamp, action, 'nobody', ip, user_agent, method, path, resource, details, hash from audit_logs where id = 2",
      2_000_000_000,
    ],
    [
      'a trail that was emptied as if it were new',
      "update audit_chain set key_sealed = '', head_id = 0, head_hash = '', head_mac = ''; delete from audit_logs",
      1,
    ],
    [
      'two entries that changed places',
      'update audit_logs set id = case id when 2 then -3 else -2 end where id in (2, 3)',
      2,
    ],
  ])('shows %s', async (_name, statement, id) => {
    for (let n = 0; n < 4; n += 1) await note('test.tick', { after: { n } });
    expect((await open().verify()).ok).toBe(true);
    for (const part of statement.split(';')) await sql.raw(part).execute(database.kysely);
    await sql.raw('update audit_logs set id = -id where id < 0').execute(database.kysely);
    expect(await open().verify()).toMatchObject({ ok: false, id });
    const told = await app.send('GET', '/audit-logs/verify', undefined, admin.headers);
    expect(told.body).toMatchObject({ ok: false, id, entries: expect.any(Number), reason: expect.any(String) });
  });

  test.each(['timestamp', 'action', 'actor', 'ip', 'user_agent', 'method', 'path', 'resource', 'details'])(
    'shows that the %s of an entry was changed',
    async (column) => {
      await setting('smtp.host', 'one.example');
      const { id } = (await entries('?limit=1'))[0]!;
      expect((await open().verify()).ok).toBe(true);
      await sql.raw(`update audit_logs set ${column} = '{"a":1}' where id = ${id}`).execute(database.kysely);
      expect(await open().verify()).toMatchObject({ ok: false, id, reason: 'the entry was changed' });
    },
  );

  test('forgets what is older than the retention, and can still be verified', async () => {
    for (let n = 0; n < 3; n += 1) await note('test.old');
    now += 10 * 86_400_000;
    for (let n = 0; n < 2; n += 1) await note('test.new');
    expect(await open().prune(0)).toBe(0);
    const total = (await open().list({ limit: 1_000 })).total;
    const removed = await open().prune(5);
    expect(removed).toBeGreaterThanOrEqual(3);
    const { rows: left } = await open().list({ limit: 1_000 });
    expect(left.map(({ action }) => action)).not.toContain('test.old');
    expect(left[0]).toMatchObject({ action: 'audit.prune', actor: 'audit retention', details: { after: { removed } } });
    expect(await open().verify()).toEqual({ ok: true, entries: total - removed + 1 });
    expect(await open().prune(5)).toBe(0);
    await sql.raw("update audit_logs set actor = 'x' where action = 'test.new'").execute(database.kysely);
    expect((await open().verify()).ok).toBe(false);
    now -= 10 * 86_400_000;
  });

  test('takes what no text of a database can hold', async () => {
    await note('test.odd', {
      after: { name: 'a\0b', lone: '\ud800' },
      actor: { ...systemActor('x'), userAgent: 'a\0\udfff' },
    });
    expect((await open().list({ limit: 1 })).rows[0]).toMatchObject({ action: 'test.odd' });
    expect((await open().verify()).ok).toBe(true);
  });
});
