import { randomUUID } from 'node:crypto';
import { withStore } from '@sallyport/server/testing/with-store';
import { expect, test } from 'vitest';
import { type Actor, type ChangeEntry, systemActor } from '../actor.ts';
import type { Executor } from '../database/open.ts';
import { createVault } from '../secrets/vault.ts';
import { confirmationStore } from './confirmations.ts';
import { closedChange, createHistory, oneByOne, openChange } from './record.ts';
import { historyStore } from './store.ts';

const NOW = '2026-05-02T12:00:00.000Z';
const KEY = 'a key of the deployment that is long enough';
const ann: Actor = { ...systemActor('test'), identity: { kind: 'anonymous' }, ip: '192.0.2.1' };
const inBatch = (more: Partial<Actor> = {}): Actor => ({ ...ann, requestId: randomUUID(), ...more });

const given = (work: (it: { db: Executor; keep: (entry: Partial<ChangeEntry>) => Promise<void> }) => Promise<void>) =>
  withStore(async ({ kysely: db, transact }) => {
    const record = oneByOne(createHistory({ vault: createVault(KEY), clock: () => new Date(NOW) }));
    const keep = (entry: Partial<ChangeEntry>) =>
      transact((tx) => record(tx, { action: 'x.update', actor: inBatch(), resource: 'x/1', ...entry }));
    await work({ db, keep });
  });

const newest = async (db: Executor) =>
  db.selectFrom('history').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow();

test('a secret is sealed in the history, shown nowhere, and opened by whoever takes the change back', () =>
  given(async ({ db, keep }) => {
    const [before, after] = [
      { user: 'a', password: 'hunter2', token: '' },
      { user: 'a\0b', password: 'hunter3', token: 't0ken' },
    ];
    await keep({ history: [{ resource: 'x/u', before, after, secret: ['password', 'token'] }] });
    const stored = await newest(db);
    expect(JSON.stringify(stored)).not.toMatch(/hunter|t0ken|\\\\u0000/);
    expect(closedChange(stored)).toEqual({
      before: { user: 'a', password: '***', token: '' },
      after: { user: 'ab', password: '***', token: '***' },
    });
    expect(openChange(stored, createVault(KEY))).toEqual({ before, after: { ...after, user: 'ab' } });
    expect(() => openChange(stored, createVault('another key of a deployment, long enough'))).toThrow();
    // Sealed for this change alone.
    expect(() => openChange({ ...stored, resource: 'x/other' }, createVault(KEY))).toThrow();
    await keep({ history: [{ resource: 'x/u', before, secret: ['password'] }] });
    expect(openChange(await newest(db), createVault(KEY))).toEqual({ before, after: null });
    await keep({ history: [{ resource: 'x/u', after: { user: 'a' } }] });
    const open = await newest(db);
    expect([open.secrets_sealed, open.before_state, open.bytes]).toEqual([null, null, 300 + '{"user":"a"}'.length]);
    // What changes nothing that anybody chose is no change.
    await keep({ history: [{ resource: 'x/u', before: { a: 1, updated_at: '1' }, after: { a: 1, updated_at: '2' } }] });
    expect((await newest(db)).id).toBe(open.id);
  }));

test('what waits to be confirmed is changed by nobody but its own request, who takes it back, and a way out', () =>
  given(async ({ db, keep }) => {
    const maker = inBatch({ confirm: { withinMs: 60_000 } });
    let value = 0;
    const change = (actor: Actor, resource = 'x/u', action = 'x.update') =>
      keep({ actor, action, history: [{ resource, before: { value: value++ }, after: { value } }] }).then(
        () => 'done',
        ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
      );
    expect(await change(maker)).toBe('done');
    const { id, batch } = await newest(db);
    expect([batch, maker.confirm?.revertsAt]).toEqual([maker.requestId, '2026-05-02T12:01:00.000Z']);
    expect(await confirmationStore(db).list()).toEqual([
      {
        ...{ id: batch, actor: 'anonymous', owner: 'anonymous 192.0.2.1', way: 'on this host', created_at: NOW },
        ...{ reverts_at: '2026-05-02T12:01:00.000Z', attempts: 0, issue: null },
      },
    ]);
    expect(await change(inBatch())).toBe('409 The last change of x/u waits to be confirmed');
    expect(await change(inBatch({ reverts: id + 1 }))).toMatch(/^409 /);
    expect(await change(inBatch(), 'x/other')).toBe('done');
    expect(await change(maker)).toBe('done');
    expect(await change(inBatch({ reverts: id }))).toBe('done');
    expect(await change(inBatch({ identity: { kind: 'system', name: 'x' } }))).toBe('done');
    for (const action of ['security.disable', 'emergency.reset']) {
      expect(await change(inBatch(), 'x/u', action)).toBe('done');
    }
    expect(await change(inBatch(), 'x/u', 'security.enable')).toMatch(/^409 /);
    expect(await confirmationStore(db).list()).toHaveLength(1);
    expect(await historyStore(db).ofBatch(batch)).toHaveLength(2);
    expect(await confirmationStore(db).end(batch)).toBe(true);
    expect(await confirmationStore(db).end(batch)).toBe(false);
    expect(await change(inBatch())).toBe('done');
  }));
