import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Database } from '@sallyport/store/database/open';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createActiveSession } from './active-session.ts';
import { unreadable } from './read.ts';
import { createReading } from './session.ts';
import { importStore } from './store.ts';

const [ACTOR, OTHER] = [systemActor('one'), systemActor('other')];
const NOW = Date.parse('2026-05-02T12:00:00.000Z');
const SECRET = 'basic_auth a secret of theirs';
const FILES = [{ name: 'Caddyfile', content: `größe ${SECRET}` }];
const SEALED = { what: 'files', text: JSON.stringify(FILES) } as const;

const given = ({ kysely: db, transactAside }: Database) => {
  const [recorded, reads] = [[] as ChangeEntry[], [] as unknown[]];
  const logged: string[] = [];
  const world = { now: NOW, fails: false };
  const deps = {
    ...{ store: importStore, vault: createVault('a key of the deployment, long enough'), transactAside, db },
    record: async (_: unknown, entry: ChangeEntry) => void recorded.push(entry),
    clock: () => new Date(world.now),
  };
  const active = createActiveSession(deps);
  /** What a process that just started has of it. */
  const reader = () =>
    createReading({
      ...deps,
      log: pino({}, { write: (line: string) => void logged.push(line) }),
      read: async (files) => {
        reads.push(files);
        if (world.fails) throw new Error('a fault of the reader');
        return { ...unreadable(files, 'read'), source: 'caddyfile', hosts: 1, errors: 0 };
      },
    });
  const begin = (actor = ACTOR) =>
    transactAside((tx) => active.beginIn(tx, FILES, { state: 'parsing', source: null, sealed: SEALED }, actor));
  const row = (uuid: string) =>
    db.selectFrom('import_sessions').selectAll().where('uuid', '=', uuid).executeTakeFirstOrThrow();
  const actions = () => recorded.splice(0).map(({ action, resource, after }) => ({ action, resource, after }));
  return { db, store: importStore(db), active, reader, begin, row, actions, reads, world, logged, transactAside };
};

test('one session at a time, sealed: its own earlier one ends by another, and that of somebody else is in the way', () =>
  withStore(async (database) => {
    const { active, begin, row, actions, store, transactAside } = given(database);
    const first = await begin();
    const stored = await row(first.uuid);
    expect(stored).toMatchObject({ state: 'parsing', filename: 'Caddyfile', attempts: 0, reading_sealed: null });
    expect(JSON.stringify(stored)).not.toContain(SECRET);
    const told = actions();
    const resource = `import/sessions/${first.uuid}`;
    const bytes = Buffer.byteLength(FILES[0]?.content ?? '');
    expect(told).toEqual([{ action: 'import.upload', resource, after: { filename: 'Caddyfile', files: 1, bytes } }]);
    await expect(begin(OTHER)).rejects.toMatchObject({
      ...{ status: 409, message: `Import session ${first.uuid} is active` },
      details: expect.stringMatching(/^since 2026-05-02T12:00:00.000Z, Caddyfile of one: commit it, or end it/),
    });
    expect(actions()).toEqual([]);
    const second = await begin();
    expect(actions()[0]).toEqual({
      ...{ action: 'import.cancel', resource, after: { state: 'cancelled', replaced_by: second.uuid } },
    });
    expect(await row(first.uuid)).toMatchObject({ state: 'cancelled', files_sealed: null, reading_sealed: null });
    expect((await store.active())?.uuid).toBe(second.uuid);
    // What has ended is not ended again.
    const cancel = (uuid: string) => transactAside((tx) => active.cancelIn(tx, uuid, OTHER, { why: 1 }));
    expect([await cancel(first.uuid), await cancel(second.uuid), await cancel(second.uuid)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(actions()).toMatchObject([{ action: 'import.cancel', after: { state: 'cancelled', why: 1 } }]);
    expect(await store.active()).toBeUndefined();
    // Why one failed quotes what was uploaded: it is forgotten when the next begins.
    const failed = await begin();
    await store.read(failed.uuid, { state: 'failed', source: null, reading_sealed: 'quoted', updated_at: '' });
    expect((await row(failed.uuid)).reading_sealed).toBe('quoted');
    await begin(OTHER);
    expect((await row(failed.uuid)).reading_sealed).toBeNull();
  }));

test('what was uploaded is read once, kept sealed in the place of the files, and not after the session ended', () =>
  withStore(async (database) => {
    const { begin, row, reader, reads, store } = given(database);
    const session = await begin();
    const reading = reader();
    await Promise.all([reading.begin(session.uuid), reading.begin(session.uuid)]);
    expect(reads).toEqual([FILES]);
    const stored = await row(session.uuid);
    expect(stored).toMatchObject({ state: 'reviewing', source: 'caddyfile', files_sealed: null, attempts: 1 });
    expect(stored.reading_sealed).toMatch(/^v1\./);
    expect(await reading.whenRead(session)).toMatchObject({ state: 'reviewing' });
    expect(await reading.open(session.uuid)).toMatchObject({ errors: [{ file: 'Caddyfile', message: 'read' }] });
    expect(await reading.open('unknown')).toBeUndefined();
    await reading.begin(session.uuid);
    expect(reads).toHaveLength(1);
    await store.end(session.uuid, { state: 'cancelled', outcome: null, updated_at: '' });
    await store.read(session.uuid, { state: 'reviewing', source: null, reading_sealed: 'x', updated_at: '' });
    expect(await row(session.uuid)).toMatchObject({ state: 'cancelled', reading_sealed: null });
    expect(await reading.open(session.uuid)).toBeUndefined();
  }));

test('what ends the service each time it is read is given up, and a fault of the reader is told without its cause', () =>
  withStore(async (database) => {
    const { db, begin, row, reader, reads, world, logged } = given(database);
    const session = await begin();
    const attempts = (count: number) =>
      db.updateTable('import_sessions').set({ attempts: count }).where('uuid', '=', session.uuid).execute();
    await attempts(3);
    // As a process does that starts.
    const given3 = reader();
    await given3.takeUp();
    await given3.idle();
    expect([reads, (await row(session.uuid)).state]).toEqual([[], 'failed']);
    expect((await given3.open(session.uuid))?.errors[0]?.message).toContain('ended each time');
    const next = await begin();
    await db.updateTable('import_sessions').set({ attempts: 2 }).where('uuid', '=', next.uuid).execute();
    world.fails = true;
    await reader().begin(next.uuid);
    expect([reads.length, (await row(next.uuid)).state]).toEqual([1, 'failed']);
    expect((await reader().open(next.uuid))?.errors[0]?.message).toMatch(/a fault of the service, see its log$/);
    expect(logged.join()).toContain('a fault of the reader');
    expect(logged.join()).not.toContain(SECRET);
  }));

test('what another node began and left is read by who waits for it', () =>
  withStore(async (database) => {
    const { begin, reader, reads, world } = given(database);
    const session = await begin();
    world.now += 90_001;
    expect(await reader().whenRead(session)).toMatchObject({ state: 'reviewing' });
    expect(reads).toHaveLength(1);
  }));

test('what another node is reading is waited for, and read by nobody else', () =>
  withStore(async (database) => {
    const { begin, reader, reads, store } = given(database);
    const session = await begin();
    const waiting = reader().whenRead(session);
    const read = { source: 'caddyfile', reading_sealed: null, updated_at: session.updated_at };
    await store.read(session.uuid, { ...read, state: 'reviewing' });
    expect(await waiting).toMatchObject({ state: 'reviewing', attempts: 0 });
    expect(reads).toEqual([]);
  }));

test('what nobody looked at is known by its time, and what ended goes when its time is over', () =>
  withStore(async (database) => {
    const { begin, store, db } = given(database);
    const { uuid } = await begin();
    const at = (ms: number) => new Date(NOW + ms).toISOString();
    expect(await store.parsing()).toEqual([uuid]);
    expect(await store.idleSince(at(0))).toEqual([]);
    expect((await store.idleSince(at(1))).map((one) => one.uuid)).toEqual([uuid]);
    expect(await store.removeEnded(at(1))).toBe(0);
    expect(await store.end(uuid, { state: 'committed', outcome: null, updated_at: at(0) })).toBe(true);
    expect([await store.parsing(), await store.idleSince(at(1))]).toEqual([[], []]);
    expect([await store.removeEnded(at(0)), await store.removeEnded(at(1))]).toEqual([0, 1]);
    expect(await db.selectFrom('import_sessions').select('uuid').execute()).toEqual([]);
  }));
