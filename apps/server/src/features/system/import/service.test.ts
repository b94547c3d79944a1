import type { NewProxyHost } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import type { HostIntake, PresentHost } from '../../host-intake.ts';
import { unreadable } from './read.ts';
import { createImports } from './service.ts';
import { importStore } from './store.ts';

const ACTOR = systemActor('test');
const OWNER = { id: 5, uuid: 'u5', domain: 'b.test', forward_port: 8 } as PresentHost;
const HOUR_MS = 3_600_000;
const site = (domain: string) => ({
  ...{ domain, forward_scheme: 'http', forward_host: '127.0.0.1', forward_port: 9 },
  ...{ file: 'Caddyfile', line: 1, warnings: [] },
});

/** Imports of files that hold the names of hosts, or `broken`, or `static`; `b.test` is taken. */
const given = (
  work: (it: {
    imports: ReturnType<typeof createImports>;
    recorded: ChangeEntry[];
    pass: (ms: number) => void;
    /** Reading is held up until it resolves. */
    hold: (until: Promise<void>) => void;
    stateOf: (uuid: string) => Promise<string | undefined>;
  }) => Promise<void>,
) =>
  withStore(async ({ kysely: db, transact, transactAside }) => {
    let now = Date.parse('2026-05-02T12:00:00.000Z');
    let held = Promise.resolve();
    const recorded: ChangeEntry[] = [];
    const intake = {
      wouldBe: (input: NewProxyHost) => ({ fields: input, names: [input.domain] }),
      ownersByName: async (_db, names) => new Map(names.includes('b.test') ? [['b.test', OWNER]] : []),
      isJudged: () => true,
      certificateIssue: () => undefined,
      bringInLists: async () => new Map(),
      bringInCertificates: async () => new Map(),
      bringIn: async (_db, incoming) => incoming.map((_, index) => ({ ids: [index + 1] })),
      keepingWayIn: (_db, _actor, change) => change(),
      sync: async () => {},
    } satisfies HostIntake;
    const imports = createImports({
      ...{ db, transact, transactAside, store: importStore, intake },
      vault: createVault('k'.repeat(32)),
      async read(files) {
        await held;
        const text = files.map(({ content }) => content).join(' ');
        if (text === 'broken') return unreadable(files, 'it is broken');
        const hosts = text.split(' ').map(site);
        const staticFiles = text === 'static' ? [{ file: 'Caddyfile', line: 2, message: 'file_server' }] : [];
        const reading = { hosts, warnings: [], staticFiles, errors: [], source: 'caddyfile' };
        return { text: JSON.stringify(reading), source: 'caddyfile', hosts: hosts.length, errors: 0, staticFiles };
      },
      backUp: async () => 'backup-1',
      record: async (_tx, entry) => void recorded.push(entry),
      clock: () => new Date(now),
      log: pino({ level: 'silent' }),
    });
    await work({
      ...{ imports, recorded },
      pass: (ms) => {
        now += ms;
      },
      hold: (until) => {
        held = until;
      },
      stateOf: async (uuid) => (await importStore(db).find(uuid))?.state,
    });
    await imports.idle();
  });

const file = (content: string, filename = 'Caddyfile') => ({ content, filename });

test('an upload is read aside, shown, and cancelled by its own uuid alone', () =>
  given(async ({ imports, recorded, stateOf }) => {
    expect(await imports.status()).toEqual({ has_pending: false });
    await expect(imports.preview()).rejects.toMatchObject({ status: 404, message: 'No active import session' });
    const session = await imports.upload(file('a.test b.test'), ACTOR);
    expect(session).toMatchObject({ state: 'parsing', filename: 'Caddyfile', source: null });
    const shown = await imports.preview();
    expect(shown).toMatchObject({ session: { state: 'reviewing', uuid: session.uuid }, conflicts: ['b.test'] });
    expect(shown.hosts.map(({ domain, existing }) => [domain, existing.length])).toEqual([
      ['a.test', 0],
      ['b.test', 1],
    ]);
    expect(await imports.status()).toMatchObject({ has_pending: true, session: { state: 'reviewing' } });
    const report = await imports.get(session.uuid.toUpperCase());
    expect(report).toMatchObject({ uuid: session.uuid, state: 'reviewing', errors: [], outcome: null });
    await expect(imports.get('other')).rejects.toMatchObject({ status: 404, message: 'Import session not found' });
    await expect(imports.cancel('other', ACTOR)).rejects.toMatchObject({ status: 404 });
    const checked: unknown[] = [];
    await imports.cancel(session.uuid.toUpperCase(), ACTOR, (version) => void checked.push(version));
    expect(checked).toEqual([report]);
    expect([await stateOf(session.uuid), (await imports.status()).has_pending]).toEqual(['cancelled', false]);
    expect(recorded.map(({ action }) => action)).toEqual(['import.upload', 'import.cancel']);
    await expect(imports.cancel(session.uuid, ACTOR)).rejects.toMatchObject({ status: 404 });
    // Another one comes in, but for the host whose name is taken.
    const { uuid } = await imports.upload(file('a.test b.test'), ACTOR);
    await imports.preview();
    const done = { imported: 1, skipped: 1, failed: 0 };
    expect(await imports.commit({ session_uuid: uuid, resolutions: { 'b.test': 'skip' } }, ACTOR)).toMatchObject(done);
    expect(await imports.get(uuid)).toMatchObject({ state: 'committed', outcome: done });
    // One whose version is another one stays.
    const next = await imports.upload(file('c.test'), ACTOR);
    const refuse = () => {
      throw new Error('changed');
    };
    await expect(imports.cancel(next.uuid, ACTOR, refuse)).rejects.toThrow('changed');
    expect((await imports.status()).has_pending).toBe(true);
  }));

test('several files are read before anybody is answered; files that are served are refused', () =>
  given(async ({ imports }) => {
    const answer = await imports.uploadMany({ files: [file('a.test'), file('b.test', 'more')] }, ACTOR);
    const { session } = await imports.preview();
    expect(answer).toMatchObject({ session_uuid: session.uuid, conflicts: ['b.test'], warning: '' });
    expect(answer).not.toHaveProperty('session');
    expect(session).toMatchObject({ state: 'reviewing', source: 'caddyfile' });
    await expect(imports.uploadMany({ files: [file('static')] }, ACTOR)).rejects.toMatchObject({ status: 400 });
    expect((await imports.preview()).session.uuid).toBe(session.uuid);
  }));

test('what can not be read fails with why, and there is nothing to review', () =>
  given(async ({ imports }) => {
    const { uuid } = await imports.upload(file('broken'), ACTOR);
    await imports.idle();
    await expect(imports.preview()).rejects.toMatchObject({ status: 404 });
    expect(await imports.get(uuid)).toMatchObject({ state: 'failed', errors: [{ message: 'it is broken' }] });
  }));

test('who waits for an upload that fails is told its state', () =>
  given(async ({ imports, hold }) => {
    const read = Promise.withResolvers<void>();
    hold(read.promise);
    const { uuid } = await imports.upload(file('broken'), ACTOR);
    const waiting = imports.preview().catch((error: unknown) => error);
    read.resolve();
    expect(await waiting).toMatchObject({ status: 404, details: `session ${uuid}: it is failed` });
  }));

test('what nobody looks at for a day is forgotten, and what became of it after a week', () =>
  given(async ({ imports, pass, stateOf, recorded }) => {
    const { uuid } = await imports.upload(file('a.test'), ACTOR);
    await imports.idle();
    pass(24 * HOUR_MS);
    expect([await imports.prune(), await stateOf(uuid)]).toEqual([0, 'reviewing']);
    pass(1);
    expect([await imports.prune(), await stateOf(uuid)]).toEqual([1, 'cancelled']);
    expect(recorded.at(-1)).toMatchObject({ actor: systemActor('import retention'), after: { idle: true } });
    pass(7 * 24 * HOUR_MS);
    expect([await imports.prune(), await stateOf(uuid)]).toEqual([0, 'cancelled']);
    pass(1);
    expect([await imports.prune(), await stateOf(uuid)]).toEqual([1, undefined]);
  }));
