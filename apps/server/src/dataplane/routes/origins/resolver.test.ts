import type { Database } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { systemLookup } from '../../../net/system-lookup.ts';
import { withStore } from '../../../testing/with-store.ts';
import { createOriginResolver, type Lookup } from './resolver.ts';
import { originAddressStore } from './store.ts';

const notFound = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));

type Make = () => ReturnType<typeof createOriginResolver>;

const withResolver = (lookup: Lookup, run: (make: Make, database: Database) => Promise<void>) =>
  withStore((database) => {
    const make = () =>
      createOriginResolver({
        store: originAddressStore(database.kysely),
        lookup,
        clock: () => new Date(),
        timeoutMs: 100,
      });
    return run(make, database);
  });

test('looks names up as the system does and passes addresses through', () =>
  withResolver(systemLookup, async (make) => {
    const resolver = make();
    await resolver.ensure(['localhost', '192.0.2.7', 'no-such-name.invalid']);
    // The system may take longer than anybody is to wait for it.
    await eventually(() => resolver.known('localhost')).toEqual({
      address: expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/),
    });
    expect(resolver.known('192.0.2.7')).toEqual({ address: '192.0.2.7' });
    expect(resolver.known('2001:db8::7')).toEqual({ address: '2001:db8::7' });
    expect(resolver.known('no-such-name.invalid')).toHaveProperty('issue');
  }));

test('keeps the last good address when a name stops resolving, also after a restart', async () => {
  let answer = () => Promise.resolve(['192.0.2.1']);
  await withResolver(
    () => answer(),
    async (make) => {
      const resolver = make();
      await resolver.ensure(['app']);
      answer = notFound;
      expect(await resolver.refresh(['app'])).toEqual(new Set());
      expect(resolver.known('app')).toEqual({ address: '192.0.2.1' });
      const restarted = make();
      await restarted.load();
      await restarted.ensure(['app']);
      expect(restarted.known('app')).toEqual({ address: '192.0.2.1' });
    },
  );
});

test('an address that could not be stored at that moment has changed all the same, and is stored when it can be', async () => {
  let found = ['192.0.2.1'];
  await withResolver(
    async () => found,
    async (make, { kysely: db }) => {
      const resolver = make();
      await resolver.ensure(['app']);
      await sql`alter table origin_addresses rename to elsewhere`.execute(db);
      found = ['192.0.2.2'];
      expect(await resolver.refresh(['app'])).toEqual(new Set(['app']));
      expect(resolver.known('app')).toEqual({ address: '192.0.2.2' });
      await sql`alter table elsewhere rename to origin_addresses`.execute(db);
      expect(await resolver.refresh(['app'])).toEqual(new Set());
      const stored = async () => Object.fromEntries(await originAddressStore(db).all());
      await eventually(stored).toEqual({ app: '192.0.2.2' });
    },
  );
});

test('a name that was looked up for a host that is about to use it is not forgotten meanwhile', () =>
  withResolver(
    async () => ['192.0.2.1'],
    async (make) => {
      const resolver = make();
      await resolver.ensure(['app']);
      await resolver.refresh([]);
      expect(resolver.known('app')).toEqual({ address: '192.0.2.1' });
      await resolver.refresh([]);
      expect(resolver.known('app')).toHaveProperty('issue');
    },
  ));

test('moves when the address is gone, and not when the answer is only in another order', async () => {
  let found = ['192.0.2.1', '192.0.2.2'];
  await withResolver(
    async () => found,
    async (make) => {
      const resolver = make();
      await resolver.ensure(['app']);
      found = ['192.0.2.2', '192.0.2.1'];
      expect(await resolver.refresh(['app'])).toEqual(new Set());
      found = ['192.0.2.2'];
      expect(await resolver.refresh(['app'])).toEqual(new Set(['app']));
      expect(resolver.known('app')).toEqual({ address: '192.0.2.2' });
    },
  );
});

test('does not wait longer than it may for a name server that does not answer', async () => {
  const silent = Promise.withResolvers<string[]>();
  await withResolver(
    () => silent.promise,
    async (make) => {
      const resolver = make();
      await resolver.ensure(['app']);
      expect(resolver.known('app')).toEqual({ issue: 'forward_host app could not be resolved in time' });
      silent.resolve(['192.0.2.9']);
      await resolver.ensure(['app']);
      expect(resolver.known('app')).toEqual({ address: '192.0.2.9' });
    },
  );
});

test.each([
  ['ENOTFOUND', 'forward_host app does not resolve'],
  ['EAI_AGAIN', 'forward_host app could not be resolved: the name server did not answer'],
  ['EMFILE', 'forward_host app could not be resolved (EMFILE)'],
  [undefined, 'forward_host app could not be resolved (no such name)'],
])('says why an origin has no address: %s', (code, issue) =>
  withResolver(
    () => Promise.reject(Object.assign(new Error('no such name'), { code })),
    async (make) => {
      const resolver = make();
      await resolver.ensure(['app']);
      expect(resolver.known('app')).toEqual({ issue });
      // Of a name that nobody uses any more nothing is kept.
      await resolver.refresh([]);
      expect(resolver.known('app')).toEqual({ issue: 'forward_host app could not be resolved in time' });
    },
  ),
);

test('an answer without an address is none, and an address is stored once, not with each look-up', async () => {
  let found: string[] = [];
  await withResolver(
    async () => found,
    async (make, { kysely: db }) => {
      const resolver = make();
      await resolver.ensure(['app', 'app', '192.0.2.7']);
      expect(resolver.known('app')).toEqual({ issue: 'forward_host app does not resolve' });
      found = ['192.0.2.1'];
      await resolver.ensure(['app']);
      expect(resolver.known('app')).toEqual({ address: '192.0.2.1' });
      await db.updateTable('origin_addresses').set({ resolved_at: 'kept' }).execute();
      found = ['192.0.2.3', '192.0.2.1'];
      await resolver.refresh(['app']);
      // Waits for what the refresh may have begun to store.
      await resolver.ensure(['other']);
      expect(await db.selectFrom('origin_addresses').selectAll().orderBy('name').execute()).toMatchObject([
        { name: 'app', address: '192.0.2.1', resolved_at: 'kept' },
        { name: 'other' },
      ]);
    },
  );
});
