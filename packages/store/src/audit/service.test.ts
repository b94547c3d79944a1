import { emptyStore, onBothDatabases } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../actor.ts';
import { migrate } from '../database/migrate.ts';
import { type Database, openDatabase } from '../database/open.ts';
import { createVault } from '../secrets/vault.ts';
import { createAudit } from './service.ts';
import { auditStore } from './store.ts';

const MARCH = '2026-03-01T12:00:00.000Z';
const DAY_MS = 86_400_000;
const vault = createVault('k'.repeat(32));

onBothDatabases('the audit trail of a store', (kind) => {
  /** An audit whose clock the test sets. */
  const withAudit = (work: (given: ReturnType<typeof givenAudit>) => Promise<void>) =>
    emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      try {
        await migrate(database);
        await work(givenAudit(database));
      } finally {
        await database.stop();
      }
    });

  const givenAudit = (database: Database) => {
    const time = { now: Date.parse(MARCH) };
    const open = (withVault = vault) =>
      createAudit({
        db: database.kysely,
        transactAside: database.transactAside,
        store: auditStore,
        vault: withVault,
        clock: () => new Date(time.now),
      });
    const audit = open();
    const note = (after: object, actor: Actor = systemActor('test')) =>
      audit.note({ action: 'test.note', actor, resource: 'test', after });
    const run = (statement: string) => sql.raw(statement).execute(database.kysely);
    return { database, time, audit, open, note, run };
  };

  const actor = (identity: Actor['identity'], more: Partial<Actor> = {}): Actor => ({
    ...systemActor('test'),
    ...more,
    identity,
  });
  const user = { kind: 'user', id: 1, email: 'a@example.com' };

  test('names who it was', () =>
    withAudit(async ({ audit, note }) => {
      const identities = [
        { kind: 'system', name: 'retention' },
        { kind: 'local' },
        { kind: 'anonymous' },
        user,
        { ...user, token: { name: 'backup' } },
      ] as unknown as Actor['identity'][];
      for (const identity of identities) await note({}, actor(identity));
      const { rows } = await audit.list({});
      expect(rows.map((entry) => entry.actor).toReversed()).toEqual([
        'retention',
        'local',
        'anonymous',
        'a@example.com',
        'a@example.com (token backup)',
      ]);
    }));

  test('takes down whatever clients send', () =>
    withAudit(async ({ audit, note }) => {
      const hostile = `a\0b\ud800${'x'.repeat(600)}`;
      const identity = { ...user, email: hostile } as unknown as Actor['identity'];
      await note({ text: 'n\0l' }, actor(identity, { ip: hostile, userAgent: hostile, method: 'PUT', path: hostile }));
      const [entry] = (await audit.list({})).rows;
      const kept = `ab\ufffd${'x'.repeat(508)}`;
      expect(entry).toMatchObject({
        id: 1,
        timestamp: MARCH,
        action: 'test.note',
        actor: kept,
        ip: kept,
        user_agent: kept,
        method: 'PUT',
        path: kept,
        resource: 'test',
        details: { after: { text: 'nl' } },
      });
      expect(await audit.verify()).toEqual({ ok: true, entries: 1 });
    }));

  test('is read newest first, by time, action, text and in parts', () =>
    withAudit(async ({ audit, note, time }) => {
      for (let n = 1; n <= 5; n += 1) {
        await note({ n });
        time.now += DAY_MS;
      }
      await audit.note({ action: 'other', actor: systemActor('test'), resource: 'Needle', after: {} });
      const ids = async (query: object) => (await audit.list(query)).rows.map(({ id }) => id);
      expect(await ids({})).toEqual([6, 5, 4, 3, 2, 1]);
      expect(await ids({ action: 'test.note', before_id: 4 })).toEqual([3, 2, 1]);
      expect(await ids({ start: '2026-03-03T12:00:00Z', end: '2026-03-04t14:00:00+02:00' })).toEqual([4, 3]);
      expect(await ids({ start: '2026-03-04T12:00Z', end: '2026-03-05' })).toEqual([4]);
      expect(await ids({ start: '2026-03-05T12:00:00.001Z' })).toEqual([6]);
      expect(await ids({ search: 'needle' })).toEqual([6]);
      for (const moment of ['yesterday', '2026-13-01', '12026-01-01', '2026-01-01T12:00', '2026-01-01 or so', '1']) {
        await expect(audit.list({ start: moment }), moment).rejects.toThrow(/^start must be a timestamp/);
        await expect(audit.list({ end: moment }), moment).rejects.toThrow(/^end must be a timestamp/);
      }
    }));

  const BROKEN: [what: string, statement: string, id: number, reason: string, entries?: number][] = [
    ['an entry that was changed', "update audit_logs set method = 'GET' where id = 2", 2, 'the entry was changed', 1],
    ['an entry that was removed', 'delete from audit_logs where id = 2', 2, 'the entry is missing', 1],
    ['the first one removed', 'delete from audit_logs where id = 1', 1, 'the entry is missing'],
    ['the last one removed', 'delete from audit_logs where id = 3', 3, 'entries are missing at the end', 2],
    ['all of them removed', 'delete from audit_logs', 1, 'entries are missing at the end'],
    ['a head that was moved', 'update audit_chain set head_id = 2', 2, 'the mark of the newest entry was changed'],
    [
      'another hash of the head',
      "update audit_chain set head_hash = 'x'",
      3,
      'the mark of the newest entry was changed',
    ],
    ['a mark that was removed', "update audit_chain set head_mac = ''", 3, 'the mark of the newest entry was changed'],
    [
      'an anchor from nowhere',
      'update audit_chain set anchor_id = 1',
      1,
      'the mark of the last removed entry was changed',
    ],
    [
      "an anchor's mark alone",
      "update audit_chain set anchor_mac = 'x'",
      0,
      'the mark of the last removed entry was changed',
    ],
    ['no key', "update audit_chain set key_sealed = ''", 1, 'the chain has no key'],
    [
      'an entry after the newest',
      `insert into audit_logs select 4, timestamp, action, actor, ip, user_agent, method, path, resource, details, hash
       from audit_logs where id = 3`,
      4,
      'an entry stands after the newest one',
    ],
  ];

  test('is found to be whole, and where it is not', () =>
    withAudit(async ({ audit, note, run, database, open }) => {
      expect(await audit.verify()).toEqual({ ok: true, entries: 0 });
      await audit.checkKey();
      for (let n = 1; n <= 3; n += 1) await note({ n });
      expect(await audit.verify()).toEqual({ ok: true, entries: 3 });
      const logs = await database.kysely.selectFrom('audit_logs').selectAll().execute();
      const chain = await database.kysely.selectFrom('audit_chain').selectAll().executeTakeFirstOrThrow();
      for (const [what, statement, id, reason, entries = 0] of BROKEN) {
        await run(statement);
        expect(await audit.verify(), what).toEqual({ ok: false, entries, id, reason });
        await database.kysely.deleteFrom('audit_logs').execute();
        await database.kysely.insertInto('audit_logs').values(logs).execute();
        await database.kysely.updateTable('audit_chain').set(chain).execute();
        expect(await audit.verify(), what).toEqual({ ok: true, entries: 3 });
      }
      await audit.checkKey();
      const other = open(createVault('another key of 32 characters....'));
      await expect(other.checkKey()).rejects.toThrow(/key in use/);
      await expect(other.verify()).rejects.toThrow(/key in use/);
    }));

  test('that is empty though there are users was emptied', () =>
    withAudit(async ({ audit, database }) => {
      await database.kysely
        .insertInto('users')
        .values({
          email: 'a@example.com',
          name: '',
          role: 'admin',
          status: 'pending',
          password_hash: null,
          totp_sealed: null,
          totp_enabled: 0,
          totp_last_step: 0,
          last_login: null,
          created_at: MARCH,
          updated_at: MARCH,
        })
        .execute();
      expect(await audit.verify()).toEqual({
        ok: false,
        entries: 0,
        id: 1,
        reason: 'there are users but no entries',
      });
    }));

  test('forgets what is old enough, and can still be verified', () =>
    withAudit(async ({ audit, note, time, run }) => {
      expect(await audit.prune(1)).toBe(0);
      for (let n = 1; n <= 4; n += 1) {
        await note({ n });
        time.now += DAY_MS;
      }
      expect(await audit.prune(0)).toBe(0);
      expect(await audit.prune(5)).toBe(0);
      // Exactly as old as may be stays: written 2 days ago.
      expect(await audit.prune(2)).toBe(2);
      expect(await audit.verify()).toEqual({ ok: true, entries: 3 });
      const { rows } = await audit.list({});
      expect(rows.map(({ id }) => id)).toEqual([5, 4, 3]);
      expect(rows[0]).toMatchObject({
        action: 'audit.prune',
        actor: 'audit retention',
        resource: 'audit-logs',
        details: { after: { removed: 2, up_to_id: 2, older_than: '2026-03-03T12:00:00.000Z' } },
      });
      await run("update audit_chain set anchor_mac = ''");
      expect(await audit.verify()).toMatchObject({ ok: false, id: 2 });
    }));

  test('that was pruned must not have an entry before its beginning', () =>
    withAudit(async ({ audit, note, time, run }) => {
      for (let n = 1; n <= 3; n += 1) await note({ n });
      time.now += 2 * DAY_MS;
      await note({ n: 4 });
      expect(await audit.prune(1)).toBe(3);
      await run(`insert into audit_logs
        select 3, timestamp, action, actor, ip, user_agent, method, path, resource, details, hash from audit_logs where id = 4`);
      expect(await audit.verify()).toEqual({
        ok: false,
        entries: 0,
        id: 3,
        reason: 'an entry stands before the first one kept',
      });
    }));

  test('keeps the order of many that come at once, and all or none of what belongs together', () =>
    withAudit(async ({ audit, note, database }) => {
      await Promise.all(Array.from({ length: 20 }, (_, n) => note({ n })));
      const { rows } = await audit.list({ sort: 'timestamp', order: 'asc' } as object);
      expect(rows).toHaveLength(20);
      const undone = database.transactAside(async (tx) => {
        await audit.record(tx, { action: 'undone', actor: systemActor('test'), resource: 'test', after: {} });
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect(await audit.verify()).toEqual({ ok: true, entries: 20 });
    }));
});
