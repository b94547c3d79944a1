import { ACCESS_LIST_DEFAULTS, type AccessList, type NewAccessList } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import type { Undoing } from '../../reverter.ts';
import { createAccessListReverter } from './reverter.ts';
import { createAccessLists } from './service.ts';
import { accessListStore } from './store.ts';
import { warningsOf } from './warnings.ts';

const actor = systemActor('test');
const NOW = '2026-05-02T12:00:00.000Z';

interface Given {
  lists: ReturnType<typeof createAccessLists>;
  store: ReturnType<typeof accessListStore>;
  db: Executor;
  recorded: ChangeEntry[];
  around: { guard: boolean; acl: boolean; isPlaced: boolean };
}

const given = (work: (it: Given) => Promise<void>, isPlaced = false): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    const recorded: ChangeEntry[] = [];
    const around = { guard: true, acl: true, isPlaced };
    const lists = createAccessLists({
      db,
      transact,
      store: accessListStore,
      country: isPlaced ? () => 'DE' : undefined,
      inForce: () => around,
      changed: async () => {},
      record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
      clock: () => new Date(NOW),
    });
    await work({ lists, store: accessListStore(db), db, recorded, around });
  });

const guardHostWith = async (db: Executor, uuid: string, access_list_id: number) => {
  const texts = { name: uuid, domain: `${uuid}.test`, forward_scheme: 'http', forward_host: '192.0.2.1' };
  const flags = {
    ...{
      ssl_forced: 0,
      http2_support: 0,
      hsts_enabled: 0,
      hsts_subdomains: 0,
      block_exploits: 0,
      websocket_support: 0,
    },
    ...{ enabled: 1, enable_standard_headers: 0, forward_verify_tls: 0, forward_http2: 0, waf_enabled: 1 },
  };
  const row = { uuid, ...texts, ...flags, forward_port: 80, access_list_id, created_at: NOW, updated_at: NOW };
  await db
    .insertInto('proxy_hosts')
    .values(row as never)
    .execute();
};

test('lists that are brought in are those that say the same, or come under a name that is free', () =>
  given(async ({ lists, store, db }) => {
    const bring = async (...brought: NewAccessList[]) => [...(await lists.within.bringIn(db, brought, actor)).values()];
    const office = { name: 'office', type: 'allow', rules: [{ cidr: '10.0.0.0/8' }, { cidr: '192.0.2.1' }] } as const;
    const rules = [...office.rules].reverse();
    expect(await bring({ ...office, rules: [...office.rules] })).toEqual([1]);
    // Whom it lets in counts, in whatever order and words that is said.
    expect(await bring({ ...office, rules: rules.map((rule) => ({ ...rule, description: 'x' })) })).toEqual([1]);
    // One that lets others in must not pass for it.
    expect(await bring({ ...office, rules: [{ cidr: '10.0.0.0/8' }] })).toEqual([2]);
    expect(await bring({ ...office, rules, enabled: false })).toEqual([3]);
    expect(await bring({ ...office, rules, type: 'deny' })).toEqual([4]);
    expect(await bring({ ...office, rules, local_network_only: true })).toEqual([5]);
    expect((await store.all()).map(({ name }) => name)).toEqual([
      'office',
      'office (imported)',
      'office (imported 2)',
      'office (imported 3)',
      'office (imported 4)',
    ]);
    const [wrong, next] = await bring({ name: 'wrong', type: 'geo_allow' }, { name: 'next', type: 'deny' });
    expect([wrong, next]).toEqual([expect.objectContaining({ status: 400 }), 6]);
    expect(await store.findByName('wrong')).toBeUndefined();
  }));

test('a fault of the store while lists are brought in is none of the list', () =>
  given(async ({ lists, db }) => {
    await db.schema.dropTable('access_lists').execute();
    await expect(lists.within.bringIn(db, [{ name: 'a', type: 'deny' }], actor)).rejects.toThrow(/no such table/);
  }));

test('lists are sorted, searched and paged; those that guard a host are told from those that guard none', () =>
  given(async ({ lists, db }) => {
    for (const name of ['b', 'c', 'a']) await lists.create({ name, type: 'deny', description: `of ${name}` }, actor);
    await guardHostWith(db, 'one', 2);
    await guardHostWith(db, 'two', 2);
    const names = async (query: object) => (await lists.list(query)).rows.map(({ name }) => name);
    expect(await names({ sort: 'name' })).toEqual(['a', 'b', 'c']);
    for (const sort of ['type', 'enabled', 'created_at', 'updated_at'])
      expect(await names({ sort })).toEqual(['b', 'c', 'a']);
    expect(await names({ search: 'OF B' })).toEqual(['b']);
    expect(await lists.list({ page: 2, per_page: 2 })).toMatchObject({ total: 3, page: 2, perPage: 2 });
    const { rows } = await lists.list({});
    expect(rows.map(({ warnings }) => warnings.length)).toEqual([1, 0, 1]);
    expect(await lists.get(2)).toMatchObject({ used_by_total: 2, warnings: [] });
    await expect(lists.remove(2, actor)).rejects.toMatchObject({ status: 409 });
    await lists.remove(1, actor);
    expect(await names({})).toEqual(['c', 'a']);
  }));

test('it says what a list will not do', () => {
  const list = { ...ACCESS_LIST_DEFAULTS, name: 'x', type: 'geo_deny', rules: [], countries: ['DE'] } as const;
  const fields = { ...list, rules: [], countries: ['DE'] };
  const all = { switches: { guard: true, acl: true }, isUsed: true, hasCountries: true };
  const said = (around: object, more: object = {}) =>
    warningsOf({ ...fields, ...more }, { ...all, ...around }).map(({ field, message }) => `${field} ${message}`);
  expect(said({})).toEqual([]);
  expect(said({ isUsed: false })).toEqual([expect.stringContaining('enabled guards nothing')]);
  expect(said({ switches: { guard: false, acl: true } })).toEqual([expect.stringContaining('suite is switched off')]);
  expect(said({ switches: { guard: true, acl: false } })).toEqual([expect.stringContaining('security.acl.enabled')]);
  expect(said({ isUsed: false }, { enabled: false })).toEqual([]);
  expect(said({ hasCountries: false })).toEqual([expect.stringContaining('countries no country database')]);
  expect(said({ hasCountries: false }, { countries: [] })).toEqual([]);
});

test('a list protects only what is asked of it, with what it needs', async () => {
  const judged = async (isPlaced: boolean) => {
    let found: boolean[] = [];
    await given(async ({ lists, around }) => {
      found = [lists.isJudged({ type: 'allow' }), lists.isJudged({ type: 'geo_deny' })];
      around.acl = false;
      expect(lists.isJudged({ type: 'allow' })).toBe(false);
    }, isPlaced);
    return found;
  };
  expect(await judged(false)).toEqual([true, false]);
  expect(await judged(true)).toEqual([true, true]);
});

test('each change is taken back whole: what a list was, under the number that hosts know it by', () =>
  given(async ({ lists, store, db, recorded }) => {
    let settled = 0;
    const reverter = createAccessListReverter(lists, async () => void settled++);
    expect(reverter.policy).toBe('sensitive');
    const fields = {
      name: 'office',
      description: 'of the office',
      type: 'geo_allow',
      rules: [{ cidr: '10.1.2.3/8', description: 'LAN' }],
      countries: ['DE'],
      local_network_only: true,
      enabled: false,
    } as const;
    const input = { ...fields, rules: [...fields.rules], countries: [...fields.countries] };
    const { id, uuid } = await lists.create(input, actor);
    const before = await store.find(id);
    expect(before).toMatchObject({ ...fields, rules: [{ cidr: '10.0.0.0/8', description: 'LAN' }] });
    const undo = (undoing: Undoing) => reverter.apply(db, undoing, actor);
    const changed: Partial<AccessList> = { name: 'x', description: '', type: 'deny', rules: [], countries: [] };
    await lists.update(uuid, { ...changed, local_network_only: false, enabled: true }, actor);
    const other = { ...before, ...changed, local_network_only: false, enabled: true };
    expect(await store.find(id)).toEqual(other);
    expect(await undo({ does: 'update', key: uuid, fields })).toEqual({ key: uuid, id });
    expect(await reverter.current(db, uuid)).toEqual(before);
    await lists.remove(uuid, actor);
    expect(await reverter.show(uuid)).toBeUndefined();
    expect(await undo({ does: 'restore', key: uuid, state: { ...before } })).toEqual({ key: uuid, id });
    expect(await store.find(id)).toEqual(before);
    expect(await reverter.show(uuid)).toMatchObject({ id, name: 'office' });
    await undo({ does: 'remove', key: uuid });
    expect(await store.find(uuid)).toBeUndefined();
    await reverter.settle([{ key: uuid, id }]);
    expect(settled).toBe(1);
    expect(recorded.map(({ action }) => action.replace('access_list.', ''))).toEqual([
      'create',
      'update',
      'update',
      'delete',
      'create',
      'delete',
    ]);
    for (const { history } of recorded) expect(history).toMatchObject([{ resource: `access-lists/${uuid}` }]);
  }));
