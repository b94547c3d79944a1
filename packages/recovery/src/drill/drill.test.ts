import { DRILL_CHECKS } from '@sallyport/contract';
import { parseConfig } from '@sallyport/deployment/config';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { drillStore } from '@sallyport/store/emergency-drills';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createDrill } from './drill.ts';

const ACTOR = systemActor('test');
const START = Date.parse('2026-05-02T12:00:00.000Z');
const at = (ms: number) => new Date(START + ms).toISOString();

const withDrill = (work: (given: ReturnType<typeof makeGiven>) => Promise<void>) =>
  withTemporaryDirectory(async (dataDir) => {
    const database = openDatabase({ dataDir, databaseUrl: undefined });
    try {
      await migrate(database);
      await work(makeGiven(dataDir, database));
    } finally {
      await database.stop();
    }
  });

const makeGiven = (dataDir: string, database: ReturnType<typeof openDatabase>) => {
  const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/');
  const { kysely: db, transactAside } = database;
  const time = { now: 0 };
  const trail = { isAway: false };
  const recorded: ChangeEntry[] = [];
  const open = (more: Partial<typeof config> = {}) =>
    createDrill({
      ...{ config: { ...config, ...more }, db, transactAside },
      async record(_tx, entry) {
        if (trail.isAway) throw new Error('the trail is away');
        recorded.push(entry);
      },
      newestVerifiedBackup: () => Promise.reject(new Error('the shelf is away')),
      copies: () => Promise.reject(new Error('nobody knows')),
      clock: () => new Date(START + time.now),
    });
  const look = async (drill = open()) => {
    const { ok, checks, proven_at } = await drill.run(ACTOR);
    return {
      ok,
      proven_at,
      names: checks.map(({ name }) => name),
      of: Object.fromEntries(checks.map(({ name, ...outcome }) => [name, outcome])),
    };
  };
  return { open, look, time, trail, recorded, store: drillStore(db), db };
};

test('each check is told under its own name, and one that breaks is amiss', () =>
  withDrill(async ({ look, open, recorded, store }) => {
    const { ok, names, of, proven_at } = await look(open({ emergencyToken: 'e'.repeat(64) }));
    expect([ok, proven_at, names]).toEqual([false, null, [...DRILL_CHECKS]]);
    expect(of).toMatchObject({
      token: { ok: true, message: 'The emergency token is set' },
      store: { ok: true, message: 'The store takes what is written' },
      disk: { message: expect.stringContaining('MiB are free') },
      management: { ok: true, message: expect.stringMatching(/^Resets may come from /) },
      // No HAProxy runs here, nor a listener, nor an instance.
      proxy: { ok: false, message: expect.stringContaining('"sallyport status"') },
      switches: { ok: false },
      shell: { ok: false, message: expect.stringContaining('does not see by itself') },
      listener: { ok: false },
      backup: { ok: false, message: 'the shelf is away' },
      copies: { ok: false, message: 'nobody knows' },
    });
    const failed = DRILL_CHECKS.filter((name) => !of[name]?.ok);
    expect(recorded).toEqual([
      { action: 'emergency.drill', actor: ACTOR, resource: 'emergency', after: { ok: false, failed } },
    ]);
    // Tried, and nothing proven.
    expect(await store.read()).toMatchObject({ tried_at: at(0), proven_at: null });
  }));

test('without a token nobody resets; a trail that can not be written is the store that fails', () =>
  withDrill(async ({ look, trail, store, db }) => {
    trail.isAway = true;
    await db.transaction().execute(async (tx) => {
      await drillStore(tx).begin(at(-86_400_000), at(-86_400_000));
      await drillStore(tx).prove(at(-86_400_000));
    });
    const { of, proven_at } = await look();
    expect(of.token).toMatchObject({ ok: false, message: expect.stringContaining('SALLYPORT_EMERGENCY_TOKEN') });
    expect(of.store).toMatchObject({ ok: false, message: expect.stringContaining('(the trail is away)') });
    // What was proven before stays proven.
    expect(proven_at).toBe(at(-86_400_000));
    expect(await store.read()).toMatchObject({ proven_at: at(-86_400_000) });
  }));

test('one at a time, and ten seconds from one to the next, whoever asks; a clock that was set back holds nobody up', () =>
  withDrill(async ({ look, open, time }) => {
    const drill = open();
    const first = drill.run(ACTOR);
    await expect(drill.run(ACTOR)).rejects.toMatchObject({ status: 409 });
    await first;
    const tooSoon = { status: 429, headers: { 'retry-after': '10' } };
    for (const asked of [drill, open()]) {
      time.now = 9_999;
      await expect(asked.run(ACTOR)).rejects.toMatchObject(tooSoon);
    }
    time.now = 10_000;
    expect((await look(drill)).of.store?.ok).toBe(true);
    time.now = 0;
    expect((await look(drill)).of.store?.ok).toBe(true);
  }));

test('a store that can not be written is told, and asked for once in ten seconds', () =>
  withDrill(async ({ look, open, db, time }) => {
    await db.schema.dropTable('emergency_drills').execute();
    const drill = open();
    const { of, proven_at } = await look(drill);
    expect(of.store).toMatchObject({ ok: false, message: expect.stringMatching(/^The store can not be written \(/) });
    expect(proven_at).toBeNull();
    time.now = 9_999;
    await expect(drill.run(ACTOR)).rejects.toMatchObject({ status: 429 });
    time.now = 10_000;
    await look(drill);
  }));
