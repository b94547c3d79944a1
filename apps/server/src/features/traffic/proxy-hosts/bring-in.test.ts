import type { NewProxyHost } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Database, Executor } from '@sallyport/store/database/open';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { type DatabaseKind, emptyStore, onBothDatabases } from '../../../testing/start-app.ts';
import { withTables } from '../../../testing/with-store.ts';
import type { Incoming } from '../../host-intake.ts';
import type { Undoing } from '../../reverter.ts';
import { createProxyHosts } from './service.ts';
import { proxyHostStore } from './store.ts';

const ACTOR = systemActor('test');
const input = (domain: string, fields: Partial<NewProxyHost> = {}): NewProxyHost => ({
  domain,
  forward_host: '192.0.2.1',
  forward_port: 80,
  ...fields,
});

/** Hosts on an empty store, whose changes are written down in `entries`. */
const withHosts = (kind: DatabaseKind, work: (given: ReturnType<typeof givenHosts>) => Promise<void>) =>
  emptyStore(kind, (config) => withTables(config, (database) => work(givenHosts(database))));

const givenHosts = (database: Database) => {
  const { kysely: db, transact } = database;
  const entries: ChangeEntry[] = [];
  const recordMany = async (_tx: Executor, more: readonly ChangeEntry[]) => void entries.push(...more);
  const hosts = createProxyHosts({
    db,
    transact,
    store: proxyHostStore,
    plane: { syncHosts: async () => {}, hostState: () => ({ applied: true, issue: null }) },
    reservedOrigin: (address) => (address === '127.0.0.1' ? 'our own' : undefined),
    surroundings: async () => expect.unreachable('nobody reads'),
    checkWayIn: () => expect.unreachable('nobody names a host'),
    record: (tx, entry) => recordMany(tx, [entry]),
    recordMany,
    clock: () => new Date('2026-01-01T00:00:00Z'),
  });
  const stored = async () => (await proxyHostStore(db).list({ sort: 'domain' })).rows;
  const named = async () => (await db.selectFrom('proxy_host_names').selectAll().orderBy('name').execute()).length;
  /** What became of it, and in how many statements. */
  const counted = async <T>(work: (tx: Executor) => Promise<T>) => {
    let statements = 0;
    const counting: KyselyPlugin = {
      transformQuery({ node }) {
        statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    entries.length = 0;
    const results = await transact((tx) => work(tx.withPlugin(counting)));
    return { results, statements };
  };
  const bringIn = (incoming: readonly Incoming[]) => counted((tx) => hosts.within.bringIn(tx, incoming, ACTOR));
  /** Takes changes back; each entry is to say which. */
  const undo = (undoings: readonly Undoing[]) =>
    counted((tx) =>
      hosts.within.undoMany(
        tx,
        undoings.map((undoing, index) => ({ undoing, actor: { ...ACTOR, reverts: index } })),
      ),
    );
  return { entries, stored, named, bringIn, undo };
};

onBothDatabases('many hosts that come in at once', (kind) => {
  test('overwrite others in as many statements as a few do', () =>
    withHosts(kind, async ({ bringIn, stored, named, entries }) => {
      const names = Array.from({ length: 300 }, (_, index) => `h${index}.example.com`);
      const made = await bringIn(names.map((name) => ({ input: input(name), replaces: false })));
      const before = await stored();
      const over = (count: number, port: number) =>
        bringIn(names.slice(0, count).map((name) => ({ input: input(name, { forward_port: port }), replaces: true })));
      const few = await over(3, 81);
      const all = await over(300, 82);
      expect(all.statements).toBe(few.statements);
      expect(all.statements).toBeLessThanOrEqual(made.statements + 5);
      expect(all.results).toEqual(made.results);
      const after = await stored();
      expect(after).toEqual(before.map((host) => ({ ...host, forward_port: 82 })));
      expect(await named()).toBe(300);
      expect(entries).toHaveLength(300);
      expect(entries[0]).toMatchObject({
        action: 'proxy_host.update',
        before: { domain: 'h0.example.com', forward_port: 81 },
        after: { domain: 'h0.example.com', forward_port: 82 },
      });
      // What they refer to is asked for once.
      const referring = (count: number) =>
        bringIn(
          names.slice(0, count).map((name) => ({ input: input(`x-${name}`, { access_list_id: 7 }), replaces: false })),
        );
      expect((await referring(300)).statements).toBe((await referring(3)).statements);
      // What is the same already is no change.
      expect((await over(300, 82)).results).toEqual(names.map(() => ({ ids: [] })));
      expect(entries).toEqual([]);
    }));

  test('are refused one by one, and those that want the same are taken in one after the other', () =>
    withHosts(kind, async ({ bringIn, stored, named }) => {
      const given = ['a.example.com', 'b.example.com', 'c.example.com,d.example.com', 'e.example.com'];
      await bringIn(given.map((domain) => ({ input: input(domain, { websocket_support: true }), replaces: false })));
      const { results } = await bringIn([
        { input: input('a.example.com', { forward_host: '127.0.0.1' }), replaces: true },
        { input: input('B.example.com,new.example.com', { forward_port: 81 }), replaces: true },
        { input: input('c.example.com', { forward_port: 82 }), replaces: true },
        { input: input('d.example.com', { forward_port: 83 }), replaces: true },
        { input: input('e.example.com', { forward_port: 84, access_list_id: 7 }), replaces: true },
        { input: input('new.example.com'), replaces: false },
        { input: input('no name'), replaces: true },
      ]);
      expect(results.map((one) => ('ids' in one ? one.ids.length : one.refusal.message))).toEqual([
        'forward_host is our own: an administrator can allow it with forward_reserved',
        1,
        2,
        1,
        'access_list_id names no access list',
        expect.stringMatching(/^domain new\.example\.com already belongs to proxy host /),
        expect.stringMatching(/^domain "no name"/),
      ]);
      expect((await stored()).map((host) => `${host.domain} ${host.forward_port} ${host.websocket_support}`)).toEqual([
        'a.example.com 80 true',
        'b.example.com,new.example.com 81 true',
        'c.example.com 82 true',
        'd.example.com 83 true',
        'e.example.com 80 true',
      ]);
      expect(await named()).toBe(6);
    }));

  test('keep what protects the host whose place they take, and are refused where two are protected differently', () =>
    withHosts(kind, async ({ bringIn, stored, named, entries }) => {
      const guarded = { waf_allowed_methods: 'GET', access_list_id: null } as const;
      await bringIn([
        { input: input('a.example.com', guarded), replaces: false },
        { input: input('b.example.com,c.example.com', guarded), replaces: false },
        { input: input('d.example.com,e.example.com'), replaces: false },
      ]);
      const before = await stored();
      const over = (domain: string) => bringIn([{ input: input(domain, { forward_port: 81 }), replaces: true }]);
      const { results } = await over('d.example.com,a.example.com');
      expect(results).toMatchObject([
        {
          refusal: {
            message: 'Its names belong to proxy hosts that are protected differently',
            details: `proxy hosts ${before[2]?.uuid} and ${before[0]?.uuid}`,
          },
        },
      ]);
      expect([await stored(), await named(), entries]).toEqual([before, 5, []]);

      // One gives a name up, the other one is gone; what is left of both keeps its protection.
      await over('a.example.com,b.example.com');
      await over('c.example.com');
      await over('e.example.com');
      expect((await stored()).map((host) => [host.domain, host.forward_port, host.waf_allowed_methods])).toEqual([
        ['a.example.com,b.example.com', 81, 'GET'],
        ['c.example.com', 81, 'GET'],
        ['d.example.com', 80, null],
        ['e.example.com', 81, null],
      ]);
      await over('c.example.com,b.example.com');
      await over('b.example.com,a.example.com');
      expect((await stored()).map((host) => [host.domain, host.waf_allowed_methods])).toEqual([
        ['b.example.com,a.example.com', 'GET'],
        ['c.example.com', 'GET'],
        ['d.example.com', null],
        ['e.example.com', null],
      ]);
      expect(await named()).toBe(5);
    }));

  test('change places: a name that one gives up another gets', () =>
    withHosts(kind, async ({ bringIn, stored, named }) => {
      await bringIn(['a.example.com', 'b.example.com'].map((domain) => ({ input: input(domain), replaces: false })));
      const { results } = await bringIn([
        { input: input('a.example.com,b.example.com', { forward_port: 81 }), replaces: true },
        { input: input('b.example.com', { forward_port: 82 }), replaces: true },
      ]);
      expect(results.every((one) => 'ids' in one)).toBe(true);
      expect((await stored()).map(({ domain, forward_port }) => `${domain} ${forward_port}`)).toEqual([
        'a.example.com 81',
        'b.example.com 82',
      ]);
      expect(await named()).toBe(2);
    }));

  test('go back in as many statements as a few do, each with the change that it takes back', () =>
    withHosts(kind, async ({ bringIn, undo, stored, named, entries }) => {
      const names = Array.from({ length: 300 }, (_, index) => `h${index}.example.com`);
      await bringIn(names.map((name) => ({ input: input(name), replaces: false })));
      const before = await stored();
      const ports = (count: number, forward_port: number) =>
        before.slice(0, count).map(({ uuid }): Undoing => ({ does: 'update', key: uuid, fields: { forward_port } }));
      const few = await undo(ports(3, 81));
      const all = await undo(ports(300, 82));
      expect(all.statements).toBe(few.statements);
      expect(all.results).toEqual(new Map(before.map(({ uuid, id }) => [uuid, { key: uuid, id }])));
      expect(entries.map(({ actor, resource }) => [actor.reverts, resource])).toEqual(
        before.map(({ uuid }, index) => [index, `proxy-hosts/${uuid}`]),
      );
      const changed = await stored();
      expect(changed.every(({ forward_port }) => forward_port === 82)).toBe(true);

      const gone = await undo(before.map(({ uuid }): Undoing => ({ does: 'remove', key: uuid })));
      expect([await stored(), await named()]).toEqual([[], 0]);
      const back = await undo(
        changed.map((state): Undoing => ({ does: 'restore', key: state.uuid, state: { ...state } })),
      );
      expect(await stored()).toEqual(changed);
      expect(await named()).toBe(300);
      expect(Math.max(gone.statements, back.statements)).toBeLessThanOrEqual(all.statements + 5);
      expect(entries).toHaveLength(300);
    }));

  test('go back to names that others of them give away, and not to those that somebody else has', () =>
    withHosts(kind, async ({ bringIn, undo, stored }) => {
      const named = (...names: string[]) => names.map((name) => ({ input: input(name), replaces: false }));
      await bringIn(named('a.example.com', 'b.example.com', 'c.example.com', 'd.example.com'));
      const [a, b, c, d] = (await stored()).map(({ uuid }) => uuid) as [string, string, string, string];
      const to = (key: string, domain: string): Undoing => ({ does: 'update', key, fields: { domain } });
      await undo([to(a, 'b.example.com'), to(b, 'c.example.com,x.example.com'), { does: 'remove', key: c }]);
      expect((await stored()).map(({ uuid, domain }) => [uuid, domain])).toEqual([
        [a, 'b.example.com'],
        [b, 'c.example.com,x.example.com'],
        [d, 'd.example.com'],
      ]);
      const { results } = await undo([to(a, 'd.example.com'), to(b, 'y.example.com'), { does: 'remove', key: c }]);
      const refused = [a, c].map((key) => results?.get(key));
      expect(refused).toMatchObject([
        { refusal: { status: 409, message: `domain d.example.com already belongs to proxy host ${d}` } },
        { refusal: { status: 404 } },
      ]);
    }));
});
