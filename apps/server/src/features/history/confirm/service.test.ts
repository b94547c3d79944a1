import { randomUUID } from 'node:crypto';
import type { NewAccessList, NotificationEvent } from '@sallyport/contract';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { confirmationStore } from '@sallyport/store/history/confirmations';
import { createHistory, oneByOne } from '@sallyport/store/history/record';
import { historyStore } from '@sallyport/store/history/store';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createAccessListReverter } from '../../protection/access-lists/reverter.ts';
import { createAccessLists } from '../../protection/access-lists/service.ts';
import { accessListStore } from '../../protection/access-lists/store.ts';
import { createRevert, type Reverting } from '../revert.ts';
import type { Viewer } from '../service.ts';
import { createConfirmations } from './service.ts';

const START = Date.parse('2026-05-02T12:00:00.000Z');
const MINUTE = 60_000;

const person = (id: number, more: Partial<Actor> = {}): Actor => {
  const user = { kind: 'user', id, email: `user${id}@example.com`, sessionId: 's', token: null } as const;
  const identity: UserIdentity = { ...user, role: 'admin', mustEnrolTotp: false };
  return { ...systemActor('test'), identity, isLocal: false, ...more };
};
const ann = person(1);

const makeGiven = async ({ kysely: db, transact }: Parameters<Parameters<typeof withStore>[0]>[0]) => {
  let now = START;
  const clock = () => new Date(now);
  const vault = createVault('a key of the deployment that is long enough');
  const keep = oneByOne(createHistory({ vault, clock }));
  const recorded: ChangeEntry[] = [];
  const record = async (...[tx, entry]: Parameters<typeof keep>) => {
    await keep(tx, entry);
    recorded.push(entry);
  };
  const lists = createAccessLists({
    ...{ db, transact, store: accessListStore, record, clock, country: undefined },
    inForce: () => ({ guard: true, acl: true }),
    changed: async () => {},
  });
  const hooks = { settled: 0, isSettleBroken: false, isStoreBroken: '', waysLost: false };
  const reverter = createAccessListReverter(lists, async () => {
    hooks.settled += 1;
    if (hooks.isSettleBroken) throw new Error('the proxy is away');
  });
  const revert = createRevert({
    ...{ db, transact, store: historyStore, vault },
    reverters: { 'access-lists': reverter },
    async keepingWayIn(_tx, _actor, work) {
      if (hooks.waysLost) throw refuse.conflict('the way by which you came');
      return work();
    },
  });
  const told: NotificationEvent[] = [];
  const confirmations = createConfirmations({
    ...{ db, transact, store: historyStore, undo: revert, clock },
    record: async (tx, entry) => {
      if (hooks.isStoreBroken !== '') throw new Error(hooks.isStoreBroken);
      await record(tx, entry);
    },
    tell: (event) => void told.push(event),
    log: pino({ level: 'silent' }),
  });
  /** An actor whose next changes go back after a minute, in one batch. */
  const unsure = (actor = ann): Actor => ({ ...actor, requestId: randomUUID(), confirm: { withinMs: MINUTE } });
  const list = (name: string): NewAccessList => ({ name, type: 'deny', rules: [{ cidr: '192.0.2.1' }] });
  return {
    ...{ db, lists, revert, confirmations, told, recorded, hooks, unsure, list, reverter },
    pass: (ms: number) => {
      now += ms;
    },
    names: async () => (await accessListStore(db).all()).map(({ name }) => name),
    waiting: () => confirmationStore(db).list(),
    reverting: (actor = ann, more: Partial<Reverting> = {}): Reverting => ({
      ...{ actor, allows: () => true, showActor: (name: string) => name },
      ...more,
    }),
    change: async (batch?: string) => {
      const all = db.selectFrom('history').selectAll().orderBy('id', 'desc');
      const [newest] = await (batch ? all.where('batch', '=', batch) : all).execute();
      return newest!;
    },
  };
};
const withGiven = (work: (given: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async (database) => {
    await work(await makeGiven(database));
  });

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { status?: number; message: string; details?: string }) =>
      [error.status, error.message, error.details].filter(Boolean).join(' '),
  );

test('a change goes back at its moment and not before, all that its request made, and is told', () =>
  withGiven(async ({ lists, list, unsure, confirmations, pass, names, told, recorded, waiting, hooks, change }) => {
    const actor = unsure();
    const { uuid } = await lists.create(list('a'), actor);
    await lists.create(list('b'), actor);
    await lists.create(list('kept'), ann);
    pass(MINUTE - 1);
    await confirmations.takeOverdueBack();
    expect([await names(), (await waiting()).length]).toEqual([['a', 'b', 'kept'], 1]);
    pass(1);
    await confirmations.takeOverdueBack();
    expect([await names(), await waiting()]).toEqual([['kept'], []]);
    const resources = [expect.stringMatching(/^access-lists\//), `access-lists/${uuid}`];
    expect(told).toEqual([
      {
        ...{ event_type: 'change_reverted', severity: 'warn', timestamp: new Date(START + MINUTE).toISOString() },
        message: expect.stringMatching(/^A change by user1@example\.com was not confirmed and is taken back: [^;]+$/),
        details: { confirmation: actor.requestId, resources },
      },
    ]);
    const { action, after, resource } = recorded.at(-1)!;
    expect([action, resource]).toEqual(['change.not_confirmed', `security/confirm/${actor.requestId}`]);
    expect(after).toEqual({ reverted: resources });
    expect(hooks.settled).toBe(1);
    // Who looks at the history sees what took it back.
    expect(await change()).toMatchObject({ actor: 'not confirmed', reverts: expect.any(Number) });
    await confirmations.takeOverdueBack();
    expect(told).toHaveLength(1);
  }));

test('at a start the store alone is put right, and a proxy that is away holds nothing up', () =>
  withGiven(async ({ lists, list, unsure, confirmations, pass, names, hooks, waiting }) => {
    await lists.create(list('a'), unsure());
    pass(MINUTE);
    await confirmations.takeOverdueBack(false);
    expect([await names(), hooks.settled]).toEqual([[], 0]);
    for (const name of ['b', 'c']) await lists.create(list(name), unsure());
    hooks.isSettleBroken = true;
    pass(MINUTE);
    await confirmations.takeOverdueBack();
    expect([await names(), hooks.settled, await waiting()]).toEqual([[], 2, []]);
  }));

test('what can not be taken back yet is tried again after five seconds, told once, and keeps nothing else waiting', () =>
  withGiven(async ({ lists, list, unsure, confirmations, pass, names, hooks, told, waiting }) => {
    const actor = unsure();
    await lists.create(list('a'), actor);
    pass(MINUTE);
    hooks.isStoreBroken = 'the disk is full';
    for (const ms of [0, 4_999, 1]) {
      pass(ms);
      await confirmations.takeOverdueBack();
    }
    const [row] = await waiting();
    expect(row).toMatchObject({ id: actor.requestId, attempts: 2, issue: 'the disk is full' });
    expect(await names()).toEqual(['a']);
    expect(told).toMatchObject([
      { severity: 'error', message: expect.stringContaining('can not be taken back yet: the disk is full') },
    ]);
    hooks.isStoreBroken = 'another reason';
    pass(5_000);
    await confirmations.takeOverdueBack();
    expect(told).toHaveLength(2);
    hooks.isStoreBroken = '';
    pass(5_000);
    await confirmations.takeOverdueBack();
    expect([await names(), await waiting(), told.length]).toEqual([[], [], 3]);
  }));

test('what somebody changed since is left and said to be, the rest goes back', () =>
  withGiven(async ({ db, lists, list, unsure, confirmations, pass, told, recorded, names }) => {
    const actor = unsure();
    const { id } = await lists.create(list('a'), actor);
    await lists.create(list('b'), actor);
    // Beside the service, as by the way out of a lock-out.
    await db.updateTable('access_lists').set({ name: 'renamed' }).where('id', '=', id).execute();
    pass(MINUTE);
    await confirmations.takeOverdueBack();
    expect(await names()).toEqual(['renamed']);
    const left = expect.stringMatching(/^access-lists\/\S+: It has been changed since: name/);
    expect(recorded.at(-1)?.after).toEqual({ reverted: [expect.any(String)], left: [left] });
    expect(told[0]?.message).toMatch(/; left as it is: access-lists\//);
  }));

test('it is confirmed by who made it, by the same way and in time', () =>
  withGiven(async ({ lists, list, unsure, confirmations, pass, waiting, recorded, names }) => {
    const actor = unsure();
    const id = actor.requestId ?? '';
    await lists.create(list('a'), actor);
    const confirm = (by: Actor) => refusal(confirmations.confirm(id, by));
    expect(await confirm(person(2))).toBe('403 Only who made a change can confirm it');
    expect(await confirm({ ...ann, isProxied: true })).toBe(
      '403 A change is confirmed by the way it was made the change was made directly, from elsewhere, this came through the proxy',
    );
    expect(await confirm({ ...ann, isLocal: true })).toMatch(/^403 .* this came on this host$/);
    expect(await refusal(confirmations.confirm(randomUUID(), ann))).toMatch(/^404 /);
    pass(MINUTE);
    expect(await confirm(ann)).toBe('410 It is too late: the change goes back');
    expect(await waiting()).toHaveLength(1);
    pass(-1);
    expect(await confirm(ann)).toBe('done');
    expect(recorded.at(-1)).toMatchObject({ action: 'change.confirm', resource: `security/confirm/${id}` });
    pass(MINUTE);
    await confirmations.takeOverdueBack();
    expect([await names(), await waiting()]).toEqual([['a'], []]);
  }));

test('one sees what one made oneself, who protects sees all, and nobody what they may not read', () =>
  withGiven(async ({ lists, list, unsure, confirmations, pass }) => {
    const eve = person(2);
    const { uuid } = await lists.create(list('a'), unsure(eve));
    pass(1);
    const mine = unsure();
    await lists.create(list('b'), mine);
    const viewer: Viewer = { actor: ann, isAdministrator: false, hidden: [], seesWebhooks: false };
    const seen = async (more: Partial<Viewer>, seesAll: boolean, query = {}) =>
      (await confirmations.list(query, { ...viewer, ...more }, seesAll)).rows;
    expect(await seen({}, false)).toMatchObject([{ id: mine.requestId, actor: 'user1@example.com', attempts: 0 }]);
    const all = await seen({ isAdministrator: true }, true);
    expect(all.map(({ actor }) => actor)).toEqual(['user2@example.com', 'user1@example.com']);
    expect(all[0]?.resources).toEqual([`access-lists/${uuid}`]);
    expect((await seen({}, true)).map(({ actor }) => actor)).toEqual(['another user', 'user1@example.com']);
    expect((await seen({ hidden: ['access-lists'] }, true)).map(({ resources }) => resources)).toEqual([[], []]);
    expect((await seen({ hidden: ['access'] }, true))[0]?.resources).toHaveLength(1);
    expect(await seen({ isAdministrator: true }, true, { search: 'user2' })).toHaveLength(1);
    for (const sort of ['reverts_at', 'created_at', 'actor']) expect(await seen({}, true, { sort })).toHaveLength(2);
  }));

test('who takes a change back needs what changing it takes, and all of a request goes back or nothing', () =>
  withGiven(async ({ db, lists, list, unsure, revert, reverting, names, change, waiting, hooks }) => {
    const actor = unsure();
    const batch = actor.requestId ?? '';
    const { id } = await lists.create(list('a'), actor);
    await lists.create(list('b'), actor);
    const asked: string[] = [];
    const mayNot = (policy: string) => {
      asked.push(policy);
      return false;
    };
    const { id: newest } = await change(batch);
    expect(await refusal(revert.batch(batch, reverting(ann, { allows: mayNot })))).toBe('403 Admin access required');
    expect(await refusal(revert.one(newest, reverting(ann, { allows: mayNot })))).toBe('403 Admin access required');
    expect(asked).toEqual(['sensitive', 'sensitive']);
    expect(await refusal(revert.one(999, reverting()))).toMatch(/^404 /);
    expect(await refusal(revert.batch(randomUUID(), reverting()))).toMatch(/^404 /);
    hooks.waysLost = true;
    expect(await refusal(revert.batch(batch, reverting()))).toBe('409 the way by which you came');
    hooks.waysLost = false;
    await db.updateTable('access_lists').set({ enabled: 0 }).where('id', '=', id).execute();
    expect(await refusal(revert.batch(batch, reverting()))).toMatch(
      /^409 The change can not be taken back any more access-lists\/\S+: It has been changed since: enabled; access-lists\/\S+: not by a change that the history knows$/,
    );
    // The one that would have gone back did not, and it still waits.
    expect([await names(), (await waiting()).length, hooks.settled]).toEqual([['a', 'b'], 1, 0]);
    await db.updateTable('access_lists').set({ enabled: 1 }).where('id', '=', id).execute();
    expect(await revert.batch(batch, reverting())).toHaveLength(2);
    expect([await names(), await waiting(), hooks.settled]).toEqual([[], [], 1]);
    expect(await refusal(revert.batch(batch, reverting()))).toMatch(/It has been deleted since/);
  }));

test('one of several changes that is taken back ends no waiting of the others; the only one does', () =>
  withGiven(async ({ lists, list, unsure, revert, reverting, names, change, waiting }) => {
    const [both, only] = [unsure(), unsure()];
    for (const name of ['a', 'b']) await lists.create(list(name), both);
    expect(await revert.one((await change(both.requestId)).id, reverting())).toBeUndefined();
    expect([await names(), (await waiting()).length]).toEqual([['a'], 1]);
    const { uuid } = await lists.create(list('c'), ann);
    await lists.update(uuid, { name: 'd' }, only);
    const { id } = await change(only.requestId);
    expect(await waiting()).toHaveLength(2);
    expect(await revert.one(id, reverting())).toMatchObject({ uuid, name: 'c' });
    expect((await waiting()).map((row) => row.id)).toEqual([both.requestId]);
    expect(await change()).toMatchObject({ reverts: id, actor: 'user1@example.com' });
  }));

test('who changed the same since is said, as far as one may know it', () =>
  withGiven(async ({ lists, list, revert, reverting, change }) => {
    const { uuid } = await lists.create(list('a'), ann);
    await lists.update(uuid, { name: 'b' }, ann);
    const { id } = await change();
    await lists.update(uuid, { description: 'x' }, person(3));
    await lists.update(uuid, { name: 'c' }, person(2));
    const culprit = await change();
    await lists.update(uuid, { enabled: false }, person(3));
    const back = (showActor: Reverting['showActor']) => refusal(revert.one(id, reverting(ann, { showActor })));
    expect(await back((name) => name)).toContain(
      `by user2@example.com at ${culprit.created_at} (change ${culprit.id})`,
    );
    expect(await back(() => 'another user')).toContain('by another user at');
  }));

test('what is no kind that can go back, or is sealed with a key that is gone, is refused and left', () =>
  withGiven(async ({ db, lists, list, revert, reverting, change, unsure, confirmations, pass, recorded, waiting }) => {
    const actor = unsure();
    const { uuid } = await lists.create(list('a'), actor);
    const { id } = await change();
    const set = (values: object) => db.updateTable('history').set(values).where('id', '=', id).execute();
    for (const resource of ['access-listsx/1', 'users/7']) {
      await set({ resource });
      expect(await refusal(revert.one(id, reverting()))).toBe(`409 Changes of ${resource} can not be taken back`);
    }
    await set({ resource: `access-lists/${uuid}`, secrets_sealed: 'v1.00000000.AAAA' });
    expect(await refusal(revert.one(id, reverting()))).toMatch(/^409 What was kept of access-lists\/\S+ is sealed/);
    pass(MINUTE);
    await confirmations.takeOverdueBack();
    expect(recorded.at(-1)?.after).toEqual({ reverted: [], left: [expect.stringContaining('is sealed with a key')] });
    expect(await waiting()).toEqual([]);
  }));
