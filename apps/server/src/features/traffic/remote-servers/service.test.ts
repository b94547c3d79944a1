import { createServer } from 'node:net';
import type { NewRemoteServer } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { probeTcp } from '../../../net/tcp-probe.ts';
import { withStore } from '../../../testing/with-store.ts';
import type { Undoing } from '../../reverter.ts';
import { createRemoteServerReverter } from './reverter.ts';
import { type Connect, createRemoteServers } from './service.ts';
import { remoteServerStore } from './store.ts';

const actor = systemActor('test');
const START = '2026-05-02T12:00:00.000Z';
const LATER = '2026-05-02T12:01:00.000Z';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Given = ReturnType<typeof given>;

const given = ({ kysely: db, transact }: Parameters<Parameters<typeof withStore>[0]>[0]) => {
  const recorded: ChangeEntry[] = [];
  const around: { now: string; connect: Connect } = { now: START, connect: async () => undefined };
  const servers = createRemoteServers({
    ...{ db, transact, store: remoteServerStore },
    connect: (...where) => around.connect(...where),
    record: async (_tx, entry) => void recorded.push(entry),
    clock: () => new Date(around.now),
  });
  const create = (more: Partial<NewRemoteServer> = {}) =>
    servers.create({ name: 'web', host: '192.0.2.1', port: 80, ...more }, actor);
  const reverter = createRemoteServerReverter(servers);
  const undo = (undoing: Undoing) => transact((tx) => reverter.apply(tx, undoing, actor));
  return { db, transact, servers, store: remoteServerStore(db), recorded, around, create, reverter, undo };
};
const withServers = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore((database) => work(given(database)));

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
  );

const addHost = async (db: Executor, domain: string, remote_server_id: number) => {
  const flags = {
    ...{ ssl_forced: 0, http2_support: 0, hsts_enabled: 0, hsts_subdomains: 0, block_exploits: 0, enabled: 1 },
    ...{ websocket_support: 0, enable_standard_headers: 0, forward_verify_tls: 0, forward_http2: 0, waf_enabled: 0 },
  } as const;
  const texts = { uuid: domain, name: '', domain, forward_scheme: 'http', forward_host: 'h', forward_port: 1 };
  const row = { ...flags, ...texts, remote_server_id, created_at: START, updated_at: START };
  await db.insertInto('proxy_hosts').values(row).execute();
};

test('a server is stored in one spelling, changed in what is given, and each change is written down with both sides', () =>
  withServers(async ({ servers, store, create, recorded, around }) => {
    const server = await create({ name: ' web ', host: '[FD00::1]' });
    expect(server).toEqual({
      ...{ id: server.id, uuid: server.uuid, name: 'web', provider: 'generic', host: 'fd00::1', port: 80 },
      ...{ enabled: true, reachable: false, last_checked: null, created_at: START, updated_at: START },
    });
    expect(server.uuid).toMatch(/^[0-9a-f-]{36}$/);
    expect((await create({ provider: 'docker', enabled: false })).enabled).toBe(false);
    recorded.splice(1);
    around.now = LATER;
    const changed = await servers.update(server.uuid, { name: ' db ', host: 'DB.test' }, actor);
    const after = { ...server, name: 'db', host: 'db.test', updated_at: LATER };
    expect(changed).toEqual(after);
    expect(await store.find(server.id)).toEqual(after);
    expect(await servers.get(server.uuid)).toEqual({ ...after, used_by: [], used_by_total: 0 });
    await servers.remove(server.id, actor);
    expect(await store.find(server.uuid)).toBeUndefined();
    const resource = `remote-servers/${server.uuid}`;
    const entry = (verb: string, sides: object) => ({
      ...{ action: `remote_server.${verb}`, actor, resource, history: [{ resource, ...sides }] },
      ...sides,
    });
    expect(recorded).toEqual([
      entry('create', { after: server }),
      entry('update', { before: server, after }),
      entry('delete', { before: after }),
    ]);
    for (const gone of [
      () => servers.get(server.id),
      () => servers.update(server.uuid, { name: 'x' }, actor),
      () => servers.remove(server.uuid, actor),
      () => servers.test(server.uuid, actor),
    ]) {
      expect(await outcome(gone())).toBe('404 Remote server not found');
    }
    expect(recorded).toHaveLength(3);
  }));

test('what is no name, no host or another version is refused, and changes nothing', () =>
  withServers(async ({ servers, store, create, recorded }) => {
    const server = await create();
    expect(await outcome(create({ name: ' ' }))).toBe('400 name is required');
    expect(await outcome(create({ host: 'http://h' }))).toMatch(/^400 host "http:\/\/h" must be a host name/);
    expect(await outcome(servers.update(server.id, { name: '' }, actor))).toBe('400 name is required');
    const seen: object[] = [];
    const check = (current: object) => {
      seen.push(current);
      throw refuse.conflict('another version');
    };
    expect(await outcome(servers.update(server.id, { name: 'x' }, actor, check))).toBe('409 another version');
    expect(await outcome(servers.remove(server.id, actor, check))).toBe('409 another version');
    expect(seen).toEqual([server, server]);
    expect((await servers.list({}, undefined)).rows).toEqual([server]);
    expect(await store.find(server.uuid)).toEqual(server);
    expect(recorded).toHaveLength(1);
  }));

test('one that hosts refer to is not deleted, by nobody', () =>
  withServers(async ({ db, servers, store, create, undo, recorded }) => {
    const server = await create();
    await addHost(db, 'a.test,b.test', server.id);
    const refused = '409 remote server is in use by one or more proxy hosts';
    expect(await outcome(servers.remove(server.uuid, actor))).toBe(refused);
    expect(await outcome(undo({ does: 'remove', key: server.uuid }))).toBe(refused);
    expect(await store.find(server.uuid)).toEqual(server);
    expect(await servers.get(server.id)).toMatchObject({ used_by: [{ domain: 'a.test,b.test' }], used_by_total: 1 });
    expect(recorded).toHaveLength(1);
  }));

test('what is found out about a server is kept, and forgotten with its address', () =>
  withServers(async ({ servers, store, create, recorded, around }) => {
    around.connect = (host, port) => probeTcp(host, port, 5_000);
    const listener = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    const { port } = listener.address() as { port: number };
    const { id, uuid, ...server } = await create({ host: '127.0.0.1', port });
    around.now = LATER;
    expect(await servers.test(uuid, actor)).toStrictEqual({
      ...{ reachable: true, address: `127.0.0.1:${port}`, timestamp: LATER },
    });
    const reached = { id, uuid, ...server, reachable: true, last_checked: LATER };
    expect(await store.find(id)).toEqual(reached);
    expect(recorded.at(-1)).toEqual({
      ...{ action: 'remote_server.test', actor, resource: `remote-servers/${uuid}` },
      after: { reachable: true, last_checked: LATER },
    });
    // The same address, said again, is no other one.
    expect(await servers.update(id, { name: 'x', host: '127.0.0.1', port }, actor)).toMatchObject({ reachable: true });
    for (const elsewhere of [{ port: port === 9 ? 10 : 9 }, { host: '127.0.0.2' }]) {
      await store.update(id, { reachable: true, last_checked: LATER });
      expect(await servers.update(id, elsewhere, actor)).toMatchObject({ reachable: false, last_checked: null });
    }
    await servers.update(id, { host: '127.0.0.1', port }, actor);
    await new Promise((resolve) => listener.close(resolve));
    expect(await servers.test(uuid, actor)).toMatchObject({ reachable: false, error: 'connection refused' });
    expect(await store.find(id)).toMatchObject({ reachable: false, last_checked: LATER });
    expect(recorded.at(-1)).toMatchObject({ action: 'remote_server.test', after: { reachable: false } });
  }));

test('an outcome is about the address that was tried: not about another one that was given meanwhile, nor one that is gone', () =>
  withServers(async ({ servers, store, create, recorded, around }) => {
    const { id } = await create({ host: '2001:db8::1' });
    for (const elsewhere of [{ port: 81 }, { host: '192.0.2.9' }]) {
      around.connect = async () => {
        await servers.update(id, elsewhere, actor);
        return undefined;
      };
      expect(await servers.test(id, actor)).toMatchObject({
        reachable: true,
        address: expect.stringContaining('[2001:db8::1]:8'),
      });
      expect(await store.find(id)).toMatchObject({ reachable: false, last_checked: null, ...elsewhere });
    }
    expect(recorded.map(({ action }) => action)).not.toContain('remote_server.test');
    around.connect = async () => {
      await servers.remove(id, actor);
      return 'no answer';
    };
    expect(await outcome(servers.test(id, actor))).toBe('404 Remote server not found');
  }));

test('what comes back is who it was, and is not known to answer', () =>
  withServers(async ({ store, servers, create, reverter, transact, undo, around }) => {
    const before = await create({ provider: 'aws', enabled: false, host: 'h.test' });
    const { id, uuid: key } = before;
    await store.update(id, { reachable: true, last_checked: START });
    const kept = { ...(await store.find(id)) };
    expect(await transact((tx) => reverter.current(tx, key))).toEqual(kept);
    await servers.remove(id, actor);
    await create();
    around.now = LATER;
    expect(await undo({ does: 'restore', key, state: kept })).toEqual({ key, id });
    const again = { ...before, updated_at: LATER };
    expect(await store.find(key)).toEqual(again);
    expect(await reverter.show(key)).toMatchObject(again);
    expect(await reverter.show(UNKNOWN)).toBeUndefined();
    const fields = { name: 'x', provider: 'gcp', host: 'other.test', port: 81, enabled: true, id: 99, reachable: true };
    expect(await undo({ does: 'update', key, fields })).toEqual({ key, id });
    const { id: _, reachable: __, ...taken } = fields;
    expect(await store.find(key)).toEqual({ ...again, ...taken });
    expect(await undo({ does: 'remove', key })).toEqual({ key, id });
    expect(await store.find(key)).toBeUndefined();
    expect(reverter.policy).toBe('sensitive');
    await reverter.settle([{ key, id }]);
  }));

test('they are listed as asked for', () =>
  withServers(async ({ servers, create }) => {
    await create({ name: 'b', host: 'one.test', provider: 'aws' });
    await create({ name: 'a', host: 'two.test', enabled: false, port: 81 });
    const names = async (...asked: Parameters<typeof servers.list>) =>
      (await servers.list(...asked)).rows.map(({ name }) => name);
    expect(await names({}, undefined)).toEqual(['b', 'a']);
    expect(await names({}, true)).toEqual(['b']);
    expect(await names({}, false)).toEqual(['a']);
    expect(await names({ search: 'TWO' }, undefined)).toEqual(['a']);
    expect(await names({ search: 'b' }, undefined)).toEqual(['b']);
    for (const sort of ['provider', 'host', 'port', 'enabled', 'reachable', 'created_at', 'updated_at']) {
      expect((await names({ sort }, undefined)).toSorted(), sort).toEqual(['a', 'b']);
    }
    expect(await names({ sort: 'name' }, undefined)).toEqual(['a', 'b']);
    expect(await servers.list({ page: 2, per_page: 1 }, undefined)).toMatchObject({ rows: [{ name: 'a' }], total: 2 });
    await expect(servers.list({ sort: 'uuid' }, undefined)).rejects.toThrow('sort must be one of: name');
  }));
