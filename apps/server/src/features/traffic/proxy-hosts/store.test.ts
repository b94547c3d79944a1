import { randomUUID } from 'node:crypto';
import { type NewProxyHost, PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { proxyHostStore, readSwitches, type StoredProxyHost } from './store.ts';

const AT = '2026-05-02T12:00:00.000Z';
const row = (domain: string, fields: Partial<NewProxyHost> = {}) => ({
  ...{ ...PROXY_HOST_DEFAULTS, domain, forward_host: '192.0.2.1', forward_port: 80, ...fields },
  ...{ uuid: randomUUID(), created_at: AT, updated_at: AT, names: domain.split(',') },
});

const withHosts = (work: (hosts: ReturnType<typeof proxyHostStore>) => Promise<void>): Promise<void> =>
  withStore(({ kysely }) => work(proxyHostStore(kysely)));

const insert = async (hosts: ReturnType<typeof proxyHostStore>, rows: ReturnType<typeof row>[]) => [
  ...(await hosts.insertMany(rows as Parameters<typeof hosts.insertMany>[0])).values(),
];

const idsOf = async (portions: AsyncIterable<{ id: number }[]>): Promise<number[][]> => {
  const read: number[][] = [];
  for await (const portion of portions) read.push(portion.map(({ id }) => id));
  return read;
};

test('more hosts than are read at once are read whole, each once, with what is changed and gone in between', () =>
  withHosts(async (hosts) => {
    const made = await insert(
      hosts,
      Array.from({ length: 1_203 }, (_, index) => row(`h${index}.test`)),
    );
    const ids = made.map(({ id }) => id);
    expect((await idsOf(hosts.allRoutes())).map(({ length }) => length)).toEqual([1_000, 203]);
    expect((await idsOf(hosts.allRoutes())).flat()).toEqual(ids);
    expect((await idsOf(hosts.all())).flat()).toEqual(ids);
    expect((await idsOf(hosts.all())).map(({ length }) => length)).toEqual([250, 250, 250, 250, 203]);
    const names = made.map(({ domain }) => domain);
    const owners = await hosts.ownersByName(['none.test', ...names]);
    expect(names.map((name) => owners.get(name)?.id)).toEqual(ids);
    expect(owners.size).toBe(1_203);
    expect((await hosts.findMany([...made.map(({ uuid }) => uuid), randomUUID()])).size).toBe(1_203);
    expect((await hosts.routesByIds([...ids.slice(0, 3), 9_999])).map(({ id }) => id)).toEqual(ids.slice(0, 3));

    const gone = ids.slice(0, 700);
    await hosts.deleteAll(gone);
    expect((await idsOf(hosts.all())).flat()).toEqual(ids.slice(700));
    expect((await hosts.ownersByName(names)).size).toBe(503);
  }));

test('many are changed as a whole, and only those that were renamed get other names', () =>
  withHosts(async (hosts) => {
    const made = await insert(
      hosts,
      Array.from({ length: 601 }, (_, index) => row(`h${index}.test,also-h${index}.test`)),
    );
    const changed = made.slice(1).map((host, index): StoredProxyHost => ({ ...host, forward_port: index + 1 }));
    const [first, second] = changed as [StoredProxyHost, StoredProxyHost];
    // They change places: neither name is free while it is asked for.
    [first.domain, second.domain] = ['h2.test', 'h1.test'];
    await hosts.updateAll(
      changed.map((host) => ({ host, names: host === first || host === second ? [host.domain] : undefined })),
    );
    expect((await hosts.list()).rows).toEqual([made[0], ...changed]);
    const owners = await hosts.ownersByName(
      made.flatMap((host) => [`h${host.id - 1}.test`, `also-h${host.id - 1}.test`]),
    );
    expect([owners.get('h1.test')?.id, owners.get('h2.test')?.id]).toEqual([second.id, first.id]);
    expect(owners.has('also-h1.test')).toBe(false);
    expect(owners.get('also-h600.test')).toEqual(changed.at(-1));
    expect(owners.size).toBe(2 * 601 - 2);
  }));

test('each switch of a host is its own, as it is stored and as the data plane reads it', () =>
  withHosts(async (hosts) => {
    const off = Object.fromEntries(
      Object.entries(PROXY_HOST_DEFAULTS).map(([name, value]) => [name, typeof value === 'boolean' ? false : value]),
    );
    const flags = Object.keys(off).filter((name) => off[name] === false);
    expect(flags).toHaveLength(14);
    const rows = flags.map((flag, index) => row(`h${index}.test`, { ...off, [flag]: true }));
    const made = await insert(hosts, [...rows, row('https.test', { ...off, forward_scheme: 'https' })]);
    for (const [index, host] of made.entries()) {
      const flag = flags[index];
      expect(Object.fromEntries(flags.map((name) => [name, host[name as keyof StoredProxyHost]]))).toEqual(
        Object.fromEntries(flags.map((name) => [name, name === flag])),
      );
      const [route] = await hosts.routesByIds([host.id]);
      const switches = readSwitches(route?.switches ?? 0);
      const on = Object.entries(switches).flatMap(([name, isOn]) => (isOn ? [name] : []));
      expect(on).toEqual([flag ?? 'tls_origin']);
      expect(route).toMatchObject({ domain: host.domain, forward_host: '192.0.2.1', forward_port: 80 });
    }
    expect(readSwitches(0)).toMatchObject({ has_access_list: false, enabled: false });
  }));

test('a host that may reach this machine is found while it is in service', () =>
  withHosts(async (hosts) => {
    await insert(hosts, [
      row('a.test', { forward_reserved: true }),
      row('b.test', { forward_reserved: true, enabled: false }),
      row('c.test'),
    ]);
    expect(await hosts.toReserved()).toEqual([{ domain: 'a.test', forward_host: '192.0.2.1', forward_port: 80 }]);
  }));

test('hosts are found by what stands in them, and sorted; who has a name is told but for the one who asks', () =>
  withHosts(async (hosts) => {
    const [b, a] = (await insert(hosts, [
      row('b.test,c.test', { forward_host: 'origin-one' }),
      row('a.test', { forward_host: 'origin-two', name: 'Shop' }),
    ])) as [StoredProxyHost, StoredProxyHost];
    const found = async (query: Parameters<typeof hosts.list>[0]) => (await hosts.list(query)).rows.map(({ id }) => id);
    expect(await found({})).toEqual([b.id, a.id]);
    expect(await found({ sort: 'domain' })).toEqual([a.id, b.id]);
    const sorts = ['name', 'forward_scheme', 'forward_host', 'forward_port', 'enabled', 'created_at', 'updated_at'];
    for (const sort of sorts) expect((await found({ sort })).toSorted(), sort).toEqual([b.id, a.id]);
    await expect(found({ sort: 'uuid' })).rejects.toThrow('sort must be one of: domain, name, ');
    for (const [search, host] of [
      ['C.TEST', b],
      ['origin-two', a],
      ['shop', a],
    ] as const) {
      expect(await found({ search }), search).toEqual([host.id]);
    }
    expect(await hosts.list({ search: 'origin', page: 2, per_page: 1 })).toMatchObject({ rows: [a], total: 2 });
    expect(await hosts.ownersOf(['c.test', 'a.test', 'none.test'], null)).toEqual(
      expect.arrayContaining([
        { name: 'a.test', uuid: a.uuid },
        { name: 'c.test', uuid: b.uuid },
      ]),
    );
    expect(await hosts.ownersOf(['c.test', 'a.test'], a.id)).toEqual([{ name: 'c.test', uuid: b.uuid }]);
    expect(await hosts.find(a.uuid)).toEqual(a);
    expect(await hosts.find(b.id)).toEqual(b);
    expect(await hosts.find(99)).toBeUndefined();
  }));

test('what a host refers to is found by its number or uuid, each in its own table', () =>
  withStore(async ({ kysely: db }) => {
    const common = { name: 'n', created_at: AT, updated_at: AT };
    const uuid = randomUUID();
    await db
      .insertInto('access_lists')
      .values({
        ...common,
        uuid,
        type: 'deny',
        description: '',
        rules: '[]',
        countries: '[]',
        local_network_only: 0 as const,
        enabled: 1,
      })
      .execute();
    const { idOf } = proxyHostStore(db);
    expect([await idOf('access_lists', 1), await idOf('access_lists', uuid)]).toEqual([1, 1]);
    expect([await idOf('remote_servers', 1), await idOf('certificates', uuid)]).toEqual([undefined, undefined]);
  }));
