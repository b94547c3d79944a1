import { randomUUID } from 'node:crypto';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import type { Actor, UserIdentity } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import type { QueryResult, RootOperationNode, UnknownRow } from 'kysely';
import { expect, test } from 'vitest';
import { actor, outcome, UNKNOWN, withHosts } from '../../../testing/given-hosts.ts';
import type { OneOfMany, Undoing } from '../../reverter.ts';
import { proxyHostStore } from './store.ts';

const proxied: Actor = { ...actor, isProxied: true };
const user: Actor = { ...actor, identity: { kind: 'user', role: 'user' } as UserIdentity };

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
