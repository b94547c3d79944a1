import type { NewProxyHost } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { actor, outcome, UNKNOWN, withHosts } from '../../../testing/given-hosts.ts';
import type { Undoing } from '../../reverter.ts';

test('many are changed, and deleted, all or none, each once', () =>
  withHosts(async ({ create, hosts, done }) => {
    const made = [await create('a.test'), await create('b.test')];
    const ids = made.map(({ id }) => id);
    const uuids = made.flatMap(({ uuid }) => [uuid, uuid.toUpperCase()]);
    done();
    const patch = { enabled: false };
    expect(await outcome(hosts.updateMany({ uuids, patch: { domain: 'c.test' } }, actor))).toBe(
      '400 patch.domain can not be given to several hosts',
    );
    expect(await outcome(hosts.updateMany({ uuids: [...uuids, UNKNOWN], patch }, actor))).toMatch(/^404 /);
    expect(await outcome(hosts.removeMany([...uuids, UNKNOWN], actor))).toMatch(/^404 /);
    const enabled = async () => (await hosts.list({})).rows.map((host) => host.enabled);
    expect(await enabled()).toEqual([true, true]);
    expect(done().synced).toEqual([]);

    const changed = await hosts.updateMany({ uuids, patch: { ...patch, forward_host: '[::1]' } }, actor);
    expect(changed.map((host) => [host.id, host.enabled, host.forward_host])).toEqual(
      ids.map((id) => [id, false, '::1']),
    );
    expect(await enabled()).toEqual([false, false]);
    const { recorded, synced } = done();
    expect(recorded.filter(({ action }) => action === 'proxy_host.update')).toHaveLength(2);
    expect(synced).toEqual([ids]);

    expect(await hosts.removeMany(uuids, actor)).toBe(2);
    expect(await hosts.list({})).toMatchObject({ rows: [], total: 0 });
    expect(done().synced).toEqual([ids]);
  }));

const incoming = (domain: string, more: Partial<NewProxyHost> = {}, replaces = true) => ({
  input: { domain, forward_host: '192.0.2.1', forward_port: 80, ...more },
  replaces,
});

test('of many that come in each is judged by itself, and what is refused is not written down', () =>
  withHosts(async ({ db, create, hosts, store, transact, aMinuteLater, done }) => {
    await create('a.test');
    await create('b.test,c.test');
    const server = {
      uuid: UNKNOWN,
      name: 's',
      provider: 'generic',
      host: 'h',
      port: 1,
      enabled: 1,
      reachable: 0,
    } as const;
    await db
      .insertInto('remote_servers')
      .values({ ...server, created_at: '', updated_at: '' })
      .execute();
    aMinuteLater();
    done();
    const bringIn = async (...many: ReturnType<typeof incoming>[]) => {
      const results = await transact((tx) => hosts.within.bringIn(tx, many, actor));
      const { recorded } = done();
      return {
        results: results.map((one) => ('ids' in one ? one.ids : one.refusal.message)),
        recorded: recorded.map(({ action, after }) => `${action.slice(11)} ${(after as { domain: string }).domain}`),
      };
    };
    // The other host has given its name up already when the reference turns out to be none.
    expect(await bringIn(incoming('a.test,b.test', { access_list_id: 7 }))).toEqual({
      ...{ results: ['access_list_id names no access list'], recorded: [] },
    });
    expect((await store.list()).rows.map(({ domain }) => domain)).toEqual(['a.test', 'b.test,c.test']);

    expect(await bringIn(incoming('a.test'), incoming('a.test'), incoming('free.test'))).toEqual({
      ...{ results: [[], [], [3]], recorded: ['create free.test'] },
    });
    expect(await bringIn(incoming('a.test', { forward_port: 81 }))).toEqual({
      ...{ results: [[1]], recorded: ['update a.test'] },
    });
    expect(await store.find(1)).toMatchObject({
      ...{ forward_port: 81, created_at: '2026-05-02T12:00:00.000Z', updated_at: '2026-05-02T12:01:00.000Z' },
    });
    const fresh = [
      incoming('d.test', { remote_server_id: 1 }, false),
      incoming('e.test', { access_list_id: 1 }, false),
      incoming('f.test,d.test', {}, false),
    ];
    expect(await bringIn(...fresh)).toEqual({
      results: [
        ...[[4], 'access_list_id names no access list'],
        `domain d.test already belongs to proxy host ${(await store.find(4))?.uuid}`,
      ],
      recorded: ['create d.test'],
    });
  }));

test('of many that go back together each is told, and what is done is written down before the transaction ends', () =>
  withHosts(async ({ create, hosts, store, transact, reverter, done }) => {
    const [a, b] = [await create('a.test'), await create('b.test')];
    done();
    const undo = async (...undoings: Undoing[]) => {
      const ones = undoings.map((undoing) => ({ undoing, actor }));
      const outcomes = await transact(async (tx) => {
        const told = await hosts.within.undoMany(tx, ones);
        return [...(told ?? [])].map(([key, one]) => [key, 'refusal' in one ? one.refusal.message : one.id]);
      });
      return { outcomes, recorded: done().recorded.map(({ action }) => action.slice(11)) };
    };
    const update = (key: string, fields: object): Undoing => ({ does: 'update', key, fields: { ...fields } });
    expect(await undo(update(a.uuid, { domain: 'x.test' }), update(b.uuid, { domain: 'x.test' }))).toEqual({
      ...{ outcomes: [[b.uuid, `domain x.test already belongs to proxy host ${a.uuid}`]], recorded: [] },
    });
    expect(await undo(update(a.uuid, { access_list_id: 7 }), update(b.uuid, { name: 'x' }))).toEqual({
      outcomes: [
        [a.uuid, 'access_list_id names no access list'],
        [b.uuid, b.id],
      ],
      recorded: ['update'],
    });
    expect(await store.find(a.id)).toMatchObject({ domain: 'a.test' });
    const state = { ...(await store.find(b.id)) };
    await undo({ does: 'remove', key: b.uuid });
    expect(await undo({ does: 'restore', key: b.uuid, state })).toEqual({
      ...{ outcomes: [[b.uuid, b.id]], recorded: ['create'] },
    });
    expect(await undo()).toEqual({ outcomes: [], recorded: [] });
    // One by one as well.
    await transact((tx) => reverter.apply(tx, update(a.uuid, { name: 'y' }), actor));
    expect(done().recorded).toHaveLength(1);
  }));
