import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type NewProxyHost, PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import type { QueryResult, RootOperationNode, UnknownRow } from 'kysely';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import type { OneOfMany, Undoing } from '../../reverter.ts';
import { createProxyHostReverter } from './reverter.ts';
import { createProxyHosts } from './service.ts';
import { proxyHostStore } from './store.ts';
import { createHostSurroundings } from './surroundings.ts';
import { createCheckWayIn } from './way-in.ts';

const actor = systemActor('test');
const proxied: Actor = { ...actor, isProxied: true };
const user: Actor = { ...actor, identity: { kind: 'user', role: 'user' } as UserIdentity };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Given = Awaited<ReturnType<typeof given>>;

const given = async ({ kysely: db, transact }: Parameters<Parameters<typeof withStore>[0]>[0]) => {
  const [recorded, synced] = [[] as ChangeEntry[], [] as number[][]];
  let minute = 0;
  const clock = () => new Date(Date.UTC(2026, 4, 2, 12, minute));
  // What takes its time has to be waited for.
  const taking = async <T>(turns: number, work: () => T) => {
    for (let turn = 0; turn < turns; turn++) await yieldToOthers();
    work();
  };
  const syncHosts = (ids: readonly number[]) => taking(20, () => synced.push([...ids]));
  const surroundings = createHostSurroundings({
    db,
    modulesInForce: () => ({ guard: true, acl: true, waf: false }),
    refusedUpgradeAt: () => undefined,
    autoCertificates: async () => new Map(),
    clock,
  });
  const hosts = createProxyHosts({
    ...{ db, transact, store: proxyHostStore, clock, surroundings: surroundings.of },
    plane: { syncHosts, hostState: ({ id }) => ({ applied: true, issue: `state of ${id}` }) },
    reservedOrigin(address) {
      if (address === '192.0.2.99') throw new Error('a fault of ours');
      return address === '127.0.0.1' ? 'our own' : undefined;
    },
    checkWayIn: createCheckWayIn({ isOwnApi: (host, port) => host === '127.0.0.1' && port === 8080 }),
    record: (_tx, entry) => taking(3, () => recorded.push(entry)),
    recordMany: (_tx, entries) => taking(3, () => recorded.push(...entries)),
  });
  return {
    ...{ db, transact, hosts, recorded, synced },
    store: proxyHostStore(db),
    create: (domain: string, more: Partial<NewProxyHost> = {}, by = actor) =>
      hosts.create({ domain, forward_host: '192.0.2.1', forward_port: 80, ...more }, by),
    aMinuteLater: () => void minute++,
    reverter: createProxyHostReverter(hosts, { syncHosts }),
    names: async () => {
      const rows = db.selectFrom('proxy_host_names').selectAll().orderBy('name');
      return (await rows.execute()).map(({ name, proxy_host_id }) => [name, proxy_host_id]);
    },
    /** What was recorded, and gone live, since the last look. */
    done: () => ({ recorded: recorded.splice(0), synced: synced.splice(0) }),
  };
};
const withHosts = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async (database) => work(await given(database)));

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
  );

test('a host is stored with all its names, written down, goes live, and is told as it stands', () =>
  withHosts(async ({ create, hosts, store, names, done }) => {
    const host = await create('A.test,b.test', { name: 'Shop' });
    const { id, uuid, applied, issue, warnings, ...fields } = host;
    expect([applied, issue]).toEqual([true, `state of ${id}`]);
    expect(warnings).toEqual([
      { field: 'waf_enabled', message: expect.stringContaining('switched off (security.waf.enabled)') },
    ]);
    const at = '2026-05-02T12:00:00.000Z';
    const origin = { forward_host: '192.0.2.1', forward_port: 80 };
    expect(fields).toEqual({
      ...{ ...PROXY_HOST_DEFAULTS, domain: 'a.test,b.test', name: 'Shop', ...origin },
      ...{ created_at: at, updated_at: at },
    });
    const after = { id, uuid, ...fields };
    const resource = `proxy-hosts/${uuid}`;
    expect(done()).toEqual({
      recorded: [{ action: 'proxy_host.create', actor, resource, after, history: [{ resource, after }] }],
      synced: [[id]],
    });
    expect(await store.find(uuid)).toEqual(after);
    expect(await hosts.get(id)).toEqual(host);
    expect(await hosts.list({})).toMatchObject({ rows: [host], total: 1 });
    expect(await names()).toEqual([
      ['a.test', id],
      ['b.test', id],
    ]);
  }));

test('a name belongs to one host; who is refused another one leaves everything as it was', () =>
  withHosts(async ({ db, create, hosts, names, done }) => {
    const owner = await create('a.test,b.test');
    const other = await create('c.test,d.test');
    const before = [await hosts.list({}), await names()];
    done();
    const refusal = `409 domain b.test already belongs to proxy host ${owner.uuid}`;
    expect(await outcome(create('x.test,B.test'))).toBe(refusal);
    expect(await outcome(hosts.update(other.uuid, { domain: 'd.test,b.test', name: 'new' }, actor))).toBe(refusal);
    // Its names and the reference are right, the origin is not.
    const wrong = { domain: 'e.test', forward_host: '127.0.0.1' };
    expect(await outcome(hosts.update(other.uuid, wrong, actor))).toMatch(/^400 forward_host is our own/);
    expect(await outcome(hosts.update(other.uuid, { access_list_id: 7 }, actor))).toBe(
      '400 access_list_id names no access list',
    );
    expect([await hosts.list({}), await names()]).toEqual(before);
    expect(done()).toEqual({ recorded: [], synced: [] });

    await hosts.update(owner.uuid, { domain: 'b.test' }, actor);
    await create('a.test');
    const owners = await hosts.ownersByName(db, ['b.test', 'd.test', 'none.test']);
    expect([...owners].map(([name, { uuid }]) => [name, uuid])).toEqual([
      ['b.test', owner.uuid],
      ['d.test', other.uuid],
    ]);
    expect((await names()).map(([name]) => name)).toEqual(['a.test', 'b.test', 'c.test', 'd.test']);
  }));

test('a change keeps what it says nothing of, and is written down with both sides', () =>
  withHosts(async ({ create, hosts, store, names, aMinuteLater, done }) => {
    const { id, uuid } = await create('a.test', { websocket_support: true, waf_body_limit: 4096 });
    const before = await store.find(id);
    const named = await names();
    done();
    aMinuteLater();
    const host = await hosts.update(id, { forward_port: 81, waf_body_limit: null }, actor);
    const after = { ...before, forward_port: 81, waf_body_limit: null, updated_at: '2026-05-02T12:01:00.000Z' };
    expect(host).toMatchObject(after);
    expect(await store.find(id)).toEqual(after);
    expect(await names()).toEqual(named);
    const resource = `proxy-hosts/${uuid}`;
    expect(done()).toEqual({
      recorded: [
        { action: 'proxy_host.update', actor, resource, before, after, history: [{ resource, before, after }] },
      ],
      synced: [[id]],
    });
    await hosts.remove(uuid, actor);
    expect(done()).toEqual({
      recorded: [
        { action: 'proxy_host.delete', actor, resource, before: after, history: [{ resource, before: after }] },
      ],
      synced: [[id]],
    });
    expect(await names()).toEqual([]);
    for (const gone of [hosts.get(id), hosts.update(uuid, {}, actor), hosts.remove(id, actor)]) {
      expect(await outcome(gone)).toBe('404 Proxy host not found');
    }
    expect(done()).toEqual({ recorded: [], synced: [] });
  }));

test('a change that was made for another version is refused, by the host as it is sent', () =>
  withHosts(async ({ create, hosts, store, done }) => {
    const { uuid, warnings: _, ...host } = await create('a.test');
    done();
    const seen: object[] = [];
    const check = (current: object) => {
      seen.push(current);
      throw refuse.conflict('another version');
    };
    expect(await outcome(hosts.update(uuid, { name: 'x' }, actor, check))).toBe('409 another version');
    expect(await outcome(hosts.remove(uuid, actor, check))).toBe('409 another version');
    expect(seen).toEqual([
      { uuid, ...host },
      { uuid, ...host },
    ]);
    expect(await store.find(uuid)).toMatchObject({ name: '' });
    expect(done()).toEqual({ recorded: [], synced: [] });
  }));

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

test('who came through the proxy keeps the way in, however it would be taken', () =>
  withHosts(async ({ create, hosts }) => {
    const way = { forward_host: '127.0.0.1', forward_port: 8080, forward_reserved: true };
    const { uuid } = await create('manage.test', way);
    const off = { enabled: false };
    for (const taken of [
      () => hosts.update(uuid, off, proxied),
      () => hosts.updateMany({ uuids: [uuid], patch: off }, proxied),
      () => hosts.remove(uuid, proxied),
      () => hosts.removeMany([uuid], proxied),
    ]) {
      expect(await outcome(taken())).toMatch(/^409 This could lock you out: manage\.test /);
    }
    expect((await hosts.get(uuid)).enabled).toBe(true);
    await hosts.update(uuid, { name: 'the way in' }, proxied);
    await hosts.remove(uuid, actor);
  }));

test('a standard user neither protects nor unprotects, nor takes a name out of a host that somebody protects', () =>
  withHosts(async ({ create, hosts, reverter, transact }) => {
    const guarded = await create('*.guarded.test', { waf_allowed_methods: 'GET' });
    const inside = await create('a.guarded.test');
    const admins = '403 Admin access required';
    expect(await outcome(create('b.guarded.test', {}, user))).toBe(admins);
    expect(await outcome(create('own.test', { waf_enabled: false }, user))).toBe(admins);
    expect(await outcome(hosts.update(inside.uuid, { domain: 'a.guarded.test,b.guarded.test' }, user))).toBe(admins);
    expect(await outcome(hosts.update(inside.uuid, { block_exploits: false }, user))).toBe(admins);
    expect(await outcome(hosts.remove(guarded.uuid, user))).toBe(admins);
    expect((await hosts.update(inside.uuid, { domain: 'own.test,a.guarded.test' }, user)).domain).toBe(
      'own.test,a.guarded.test',
    );
    expect((await create('a.b.guarded.test', {}, user)).waf_allowed_methods).toBeNull();

    // Taking changes back is no way round: one by one by the same rules, and never many at once.
    const undo = (undoing: Undoing) => outcome(transact((tx) => reverter.apply(tx, undoing, user)));
    const { uuid: key } = guarded;
    expect(await undo({ does: 'update', key, fields: { waf_allowed_methods: null } })).toBe(admins);
    expect(await undo({ does: 'remove', key })).toBe(admins);
    const state = { domain: 'c.guarded.test', forward_host: '192.0.2.1', forward_port: 80 };
    expect(await undo({ does: 'restore', key: UNKNOWN, state })).toBe(admins);
    const many = (by: Actor) =>
      transact(async (tx) => reverter.many?.apply(tx, [{ undoing: { does: 'remove', key }, actor: by }]));
    expect(await many(user)).toBeUndefined();
    expect((await hosts.get(key)).waf_allowed_methods).toBe('GET');
    expect(await many(actor)).toEqual(new Map([[key, { key, id: guarded.id }]]));
    expect(await outcome(hosts.get(key))).toMatch(/^404 /);
  }));

test('what comes back is who it was, with all that was kept of it', () =>
  withHosts(async ({ create, hosts, store, names, reverter, transact, aMinuteLater, done }) => {
    const { id, uuid: key } = await create('a.test,b.test', {
      ...{ ssl_forced: true, http2_support: false, hsts_enabled: true, hsts_subdomains: true, block_exploits: false },
      ...{ websocket_support: true, enabled: false, enable_standard_headers: false, forward_http2: true },
      ...{ waf_enabled: false, waf_inspect_responses: true, waf_allowed_methods: 'GET', waf_body_limit: 4096 },
      ...{ waf_allowed_content_types: 'text/plain', auto_certificate: true, forward_scheme: 'https' },
    });
    expect(reverter.policy).toBe('member');
    const whole = await store.find(key);
    const state = { ...whole };
    const named = await names();
    await create('other.test');
    await hosts.remove(key, actor);
    aMinuteLater();
    const undo = (undoing: Undoing) => transact((tx) => reverter.apply(tx, undoing, actor));
    expect(await undo({ does: 'restore', key, state })).toEqual({ key, id });
    const again = { ...whole, updated_at: '2026-05-02T12:01:00.000Z' };
    expect(await store.find(key)).toEqual(again);
    expect(await transact((tx) => reverter.current(tx, key))).toEqual(again);
    const present = await transact(async (tx) => reverter.many?.current(tx, [key, UNKNOWN]));
    expect(present).toEqual(new Map([[key, again]]));
    expect((await names()).slice(0, 2)).toEqual(named);

    expect(await undo({ does: 'update', key, fields: { domain: 'b.test', uuid: UNKNOWN } })).toEqual({ key, id });
    expect(await store.find(id)).toEqual({ ...again, domain: 'b.test' });
    expect(await undo({ does: 'remove', key })).toEqual({ key, id });
    expect(await store.find(id)).toBeUndefined();
    const actions = done().recorded.map(({ action }) => action.slice('proxy_host.'.length));
    expect(actions).toEqual(['create', 'create', 'delete', 'create', 'update', 'delete']);
    await reverter.settle([{ key, id }]);
    expect(done().synced).toEqual([[id]]);
  }));

test('a fault of ours, or of the store, takes the whole change back: it is nobody else’s refusal', () =>
  withHosts(async ({ create, hosts, transact, done }) => {
    const { uuid: key, id } = await create('a.test');
    done();
    const incoming = ['b.test', 'c.test'].map((domain) => ({
      ...{ input: { domain, forward_host: domain === 'c.test' ? '192.0.2.99' : '192.0.2.1', forward_port: 80 } },
      replaces: false,
    }));
    await expect(transact((tx) => hosts.within.bringIn(tx, incoming, actor))).rejects.toThrow('a fault of ours');
    const refusing = {
      transformQuery({ node }: { node: RootOperationNode }) {
        if (node.kind === 'DeleteQueryNode') throw new Error('the store is gone');
        return node;
      },
      transformResult: async ({ result }: { result: QueryResult<UnknownRow> }) => result,
    };
    const remove: OneOfMany = { undoing: { does: 'remove', key }, actor };
    const removing = transact((tx) => hosts.within.undoMany(tx.withPlugin(refusing), [remove]));
    await expect(removing).rejects.toThrow('the store is gone');
    const one = transact((tx) => hosts.within.remove(tx.withPlugin(refusing), key, actor));
    await expect(one).rejects.toThrow('the store is gone');
    expect((await hosts.list({})).rows.map((host) => host.id)).toEqual([id]);
    expect(done()).toEqual({ recorded: [], synced: [] });
  }));

test('more hosts than are looked at together are summed up, each once', () =>
  withHosts(async ({ create, hosts, store, transact }) => {
    const { id: _, applied, issue, warnings, ...first } = await create('first.test');
    const many = Array.from({ length: 2_500 }, (_, index) => ({
      ...{ ...first, uuid: randomUUID(), domain: `h${index}.test`, enabled: index > 0, names: [] },
    }));
    await transact((tx) => proxyHostStore(tx).insertMany(many));
    expect((await store.list({ per_page: 1 })).total).toBe(2_501);
    expect(await hosts.summary()).toMatchObject({ total: 2_501, enabled: 2_500, served: 2_500, with_issue: 2_501 });
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
