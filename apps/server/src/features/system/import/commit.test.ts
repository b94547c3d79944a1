import type { NewProxyHost } from '@sallyport/contract';
import type { Reading } from '@sallyport/import';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import type { HostIntake, Incoming } from '../../host-intake.ts';
import { createCommit } from './commit.ts';
import { planHosts } from './plan.ts';
import { type ImportStore, importStore } from './store.ts';

const UUID = '11111111-1111-4111-8111-11111111111a';
const ACTOR = { ...systemActor('test'), requestId: 'request-1' };

const host = (domain: string, more: object = {}) => ({
  ...({ domain, forward_scheme: 'http', forward_host: '127.0.0.1', forward_port: 9 } as const),
  ...{ file: 'Caddyfile', line: 3, warnings: [], ...more },
});

/** A session under review with these hosts; what is taken in is noted, a host `refused.test` is not taken. */
const given = (
  hosts: ReturnType<typeof host>[],
  work: (it: {
    /** Commits; `during` is called while the backup is made, or in the transaction. */
    commit: (options?: {
      resolutions?: Record<string, 'skip'>;
      uuid?: string;
      whileBackedUp?: (store: ImportStore) => Promise<unknown>;
      whileBroughtIn?: (store: ImportStore) => Promise<unknown>;
    }) => ReturnType<ReturnType<typeof createCommit>>;
    told: { recorded: ChangeEntry[]; broughtIn: Incoming[][]; synced: unknown[]; backups: string[] };
    store: ImportStore;
  }) => Promise<void>,
) =>
  withStore(async ({ kysely: db, transact }) => {
    const told = { recorded: [], broughtIn: [], synced: [], backups: [] } as Parameters<typeof work>[0]['told'];
    const store = importStore(db);
    const known = { hosts, errors: [], warnings: [], staticFiles: [] } as unknown as Reading;
    await store.insert({
      ...{ uuid: UUID, filename: 'Caddyfile', source: 'caddyfile', state: 'reviewing', actor: 'a', owner: 'a' },
      ...{ attempts: 1, outcome: null, files_sealed: null, reading_sealed: 'sealed', created_at: '', updated_at: '' },
    });
    const commit: Parameters<typeof work>[0]['commit'] = ({
      resolutions,
      uuid = UUID.toUpperCase(),
      whileBackedUp = async () => {},
      whileBroughtIn = async () => {},
    } = {}) => {
      const intake: HostIntake = {
        wouldBe: (input: NewProxyHost) => ({ fields: input, names: input.domain.split(',') }),
        ownersByName: async () => new Map(),
        isJudged: () => true,
        certificateIssue: () => undefined,
        bringInLists: async () => new Map(),
        bringInCertificates: async (_tx, certificates) => new Map(certificates.map(({ name }) => [name, 77])),
        async bringIn(tx, incoming) {
          told.broughtIn.push([...incoming]);
          await whileBroughtIn(importStore(tx));
          return incoming.map(({ input }, index) =>
            input.domain === 'refused.test' ? { refusal: refuse.conflict('it is taken') } : { ids: [index + 1, 50] },
          );
        },
        keepingWayIn: (_tx, _actor, change) => change(),
        sync: async (changed) => void told.synced.push(changed),
      };
      return createCommit({
        ...{ db, transact, store: importStore, intake },
        reading: {
          whenRead: async (session) => session,
          open: async (known_uuid) => (known_uuid === UUID ? known : undefined),
        },
        planOf: (read: Reading, executor: Executor) =>
          planHosts(read, { ...intake, ownersByName: (names) => intake.ownersByName(executor, names) }),
        async backUp(reason) {
          told.backups.push(reason);
          await whileBackedUp(store);
          return 'backup-1';
        },
        record: async (_tx, entry) => void told.recorded.push(entry),
        clock: () => new Date('2026-05-02T12:00:00.000Z'),
      })({ session_uuid: uuid, ...(resolutions ? { resolutions } : {}) }, ACTOR);
    };
    await work({ commit, told, store });
  });

const refusal = (details: string) => ({
  ...{ status: 400, message: 'Invalid session or unresolved conflicts', details },
});

test('what was reviewed comes in at once, after a backup, and what did not is told with its place', () =>
  given(
    [
      host('a.test,b.test'),
      host('refused.test'),
      host('c.test', { forward_port: 0, line: 7 }),
      host('d.test', { access_list: 'gone', line: 9 }),
      host('e.test'),
      host('f.test'),
    ],
    async ({ commit, told, store }) => {
      expect(await commit({ resolutions: { 'e.test': 'skip' } })).toEqual({
        ...{ imported: 2, skipped: 1, failed: 3, batch: 'request-1', backup: 'backup-1' },
        failures: [
          {
            ...{ domain: 'c.test', file: 'Caddyfile', line: 7 },
            message: 'forward_port must be between 1 and 65535',
          },
          { domain: 'd.test', message: 'its access list gone: is missing', file: 'Caddyfile', line: 9 },
          { domain: 'refused.test', message: 'it is taken', file: 'Caddyfile', line: 3 },
        ],
      });
      expect(told.backups).toEqual(['before-import']);
      expect(told.broughtIn[0]?.map(({ input, replaces }) => [input.domain, replaces])).toEqual([
        ['a.test,b.test', false],
        ['refused.test', false],
        ['f.test', false],
      ]);
      expect(told.synced).toEqual([{ hosts: [1, 50, 3, 50], certificates: [] }]);
      const after = { state: 'committed', imported: 2, skipped: 1, failed: 3, backup: 'backup-1' };
      expect(told.recorded).toEqual([
        { action: 'import.commit', actor: ACTOR, resource: `import/sessions/${UUID}`, after },
      ]);
      const session = await store.find(UUID);
      expect(session).toMatchObject({ state: 'committed', updated_at: '2026-05-02T12:00:00.000Z' });
      expect(JSON.parse(session?.outcome ?? '')).toEqual({
        ...{ imported: 2, skipped: 1, failed: 3, names: ['a.test', 'b.test', 'f.test'] },
      });
      // Once.
      await expect(commit()).rejects.toMatchObject(refusal('the session is committed, not reviewing'));
      expect(told.broughtIn).toHaveLength(1);
    },
  ));

test('where nothing comes in there is no backup and nothing to take back', () =>
  given([host('a.test')], async ({ commit, told }) => {
    const nothing = { imported: 0, skipped: 1, failed: 0, failures: [], batch: null, backup: null };
    expect(await commit({ resolutions: { 'a.test': 'skip' } })).toEqual(nothing);
    expect(told.backups).toEqual([]);
  }));

test('only a session under review is committed, and what became of one meanwhile stands', () =>
  given([host('a.test')], async ({ commit, told, store }) => {
    const end = (state: string) => (of: ImportStore) => of.end(UUID, { state, outcome: null, updated_at: '9' });
    await expect(commit({ uuid: 'other' })).rejects.toMatchObject(refusal('there is no such session'));
    // Ended within the transaction: it is undone with it.
    await expect(commit({ whileBroughtIn: end('cancelled') })).rejects.toMatchObject({
      ...{ status: 409, message: `Import session ${UUID} was ended meanwhile` },
      details: expect.stringContaining('this one changed nothing'),
    });
    expect(await store.find(UUID)).toMatchObject({ state: 'reviewing' });
    const committed = commit({ whileBackedUp: end('committed') });
    await expect(committed).rejects.toMatchObject({
      ...{ status: 409, message: `Import session ${UUID} was committed meanwhile` },
    });
    expect(told).toMatchObject({ synced: [], broughtIn: [expect.anything()] });
  }));

test('a session that is gone meanwhile is one that ended', () =>
  given([host('a.test')], async ({ commit, told }) => {
    const forget = async (store: ImportStore) => {
      await store.end(UUID, { state: 'cancelled', outcome: null, updated_at: '1' });
      await store.removeEnded('2');
    };
    await expect(commit({ whileBackedUp: forget })).rejects.toMatchObject({ status: 409 });
    expect(told.broughtIn).toEqual([]);
  }));
