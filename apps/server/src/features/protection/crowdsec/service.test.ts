import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LogEntry } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { alwaysAlone } from '@sallyport/store/database/alone';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import { anywhere } from '../../../testing/anywhere.ts';
import { startCentral, TOKEN } from '../../../testing/central-api.ts';
import { type ScriptedCrowdsec, scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import { type ScriptedLapi, startScriptedLapi } from '../../../testing/start-scripted-lapi.ts';
import { storedDecisions } from '../../../testing/stored-decisions.ts';
import { withStore } from '../../../testing/with-store.ts';
import { crowdsecAccount } from './account.ts';
import { type Crowdsec, createCrowdsec } from './service.ts';

const actor = systemActor('test');

interface Given {
  crowdsec: Crowdsec;
  scripted: ScriptedCrowdsec;
  dataDir: string;
  /** The file of its database. */
  database: string;
  /** Once its process runs, its local API answers, too. */
  answers: () => Promise<ScriptedLapi>;
  recorded: ChangeEntry[];
  published: LogEntry[];
  /** What HAProxy was told, and what is wanted of CrowdSec. */
  world: { told: boolean[]; isWanted: boolean };
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }, dataDir) => {
    // Its account passes through.
    chmodSync(dataDir, 0o755);
    const scripted = await scriptedCrowdsec();
    scripted.scenario('one');
    const { program, instance } = scripted;
    const recorded: ChangeEntry[] = [];
    const published: LogEntry[] = [];
    const world = { told: [] as boolean[], isWanted: false };
    const record = async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry);
    const decisions = storedDecisions({ kysely: db, transact });
    const central = await startCentral();
    onTestFinished(central.stop);
    const crowdsec = createCrowdsec({
      dataDir,
      port: instance.port,
      program,
      console: {
        url: central.url,
        fetch: createSafeFetch({
          lookup: async () => [],
          addressPolicy: anywhere,
        }),
      },
      vault: createVault('k'.repeat(32)),
      decisions,
      isWanted: async () => world.isWanted,
      whitelist: async () => ['192.0.2.1'],
      alone: () => alwaysAlone,
      publish: (entry) => void published.push(entry),
      tellTraffic: async (isWanted) => void world.told.push(isWanted),
      isTrafficTold: () => world.told.at(-1) ?? false,
      db,
      transact,
      record,
      clock: () => new Date(),
      log: pino({ level: 'silent' }),
    });
    const answers = async (): Promise<ScriptedLapi> => {
      await expect.poll(crowdsec.isRunning).toBe(true);
      const lapi = await startScriptedLapi(instance.port);
      onTestFinished(lapi.stop);
      return lapi;
    };
    const { at } = crowdsecAccount(join(dataDir, 'crowdsec')).state;
    const running = await crowdsec.run();
    try {
      await work({
        crowdsec,
        scripted,
        dataDir,
        database: join(at, 'crowdsec.db'),
        answers,
        recorded,
        published,
        world,
      });
    } finally {
      await running.stop();
      for (const place of [at, `${at}.damaged`]) rmSync(place, { recursive: true, force: true });
    }
  });

test('started by hand it runs, is told of the traffic, bans, and is shown; stopped it is none of that', () =>
  given(async ({ crowdsec, dataDir, answers, recorded, world }) => {
    expect(await crowdsec.status()).toMatchObject({
      ...{ status: 'stopped', pid: null, version: '1.4.6', lapi_ready: false, decisions: 0, last_sync: null },
      ...{ acquisition: [], scenarios: [], issue: null, traffic: { told: false, lines_unread: null } },
    });
    // One that an earlier server had told is not wanted now.
    await expect.poll(() => world.told).toEqual([false]);
    const starting = crowdsec.start(actor);
    const lapi = await answers();
    const started = await starting;
    expect(started).toMatchObject({ status: 'started', lapi_ready: true });
    await crowdsec.start(actor);
    expect(recorded).toEqual([
      { action: 'crowdsec.start', actor, resource: 'admin/crowdsec', after: { pid: started.pid } },
    ]);
    await expect.poll(() => world.told).toEqual([false, true]);
    lapi.make({ value: '203.0.113.7' });
    await expect.poll(async () => (await crowdsec.status()).decisions).toBe(1);
    await expect
      .poll(async () => (await crowdsec.status()).acquisition)
      .toEqual([`${dataDir}/crowdsec/log/access.log`]);
    expect(await crowdsec.status()).toMatchObject({
      ...{ status: 'running', pid: started.pid, lapi_ready: true, decisions_of_others: 0, issue: null },
      ...{ last_sync: expect.any(String), scenarios: ['test/one'], traffic: { told: true, lines_written: 0 } },
    });

    expect(await crowdsec.stop(actor)).toEqual({ status: 'stopped' });
    expect(recorded.slice(1)).toEqual([
      { action: 'crowdsec.stop', actor, resource: 'admin/crowdsec', after: { pid: started.pid } },
    ]);
    expect(await crowdsec.status()).toMatchObject({ status: 'stopped', pid: null, scenarios: [], acquisition: [] });
    expect(world.told).toEqual([false, true, false]);
  }));

test('it runs while it is wanted; who stops it by hand has the last word until that changes', () =>
  given(async ({ crowdsec, world }) => {
    world.isWanted = true;
    await expect.poll(crowdsec.isRunning).toBe(true);
    await crowdsec.stop(actor);
    expect(crowdsec.isRunning()).toBe(false);
    world.isWanted = false;
    const toldBefore = world.told.length;
    // Following that it is not wanted ends it once more.
    await expect.poll(() => world.told.length).toBeGreaterThan(toldBefore);
    expect(crowdsec.isRunning()).toBe(false);
    world.isWanted = true;
    await expect.poll(crowdsec.isRunning).toBe(true);
    world.isWanted = false;
    await expect.poll(crowdsec.isRunning).toBe(false);
    expect((await crowdsec.status()).status).toBe('stopped');
  }));

test('bans of others end with what brought them', () =>
  given(async ({ crowdsec, answers }) => {
    await crowdsec.console.enrol({ token: TOKEN }, actor);
    const starting = crowdsec.start(actor);
    const lapi = await answers();
    await starting;
    lapi.make({ value: '203.0.113.7' });
    lapi.make({ value: '203.0.113.8', origin: 'CAPI' });
    await expect.poll(() => crowdsec.status()).toMatchObject({ decisions: 2, decisions_of_others: 1 });
    await crowdsec.console.remove(actor, () => undefined);
    expect(await crowdsec.status()).toMatchObject({ decisions: 1, decisions_of_others: 0 });
  }));

test('what it can not load or use is told to whoever looks', () =>
  given(async ({ crowdsec, scripted, published, world, database }) => {
    scripted.scenario('bad', 'broken');
    world.isWanted = true;
    await expect.poll(crowdsec.isRunning).toBe(true);
    expect(published).toMatchObject([
      {
        ...{ level: 'error', source: 'crowdsec' },
        fields: {
          event: 'crowdsec_scenario_refused',
          scenario: 'test/bad',
          reason: expect.stringContaining('no such filter'),
        },
      },
    ]);
    const bad = (await crowdsec.presets.list({})).rows.find(({ name }) => name === 'test/bad');
    expect(bad?.scenarios).toMatchObject([{ applied: true, issue: expect.stringContaining('no such filter') }]);
    const { pid } = await crowdsec.status();
    // A database that is gone beside it is noticed, though nobody asks.
    rmSync(database);
    await expect
      .poll(() => published.at(-1)?.fields)
      .toEqual({ event: 'crowdsec_damaged', reason: 'the file of its database is gone' });
    await expect.poll(async () => [null, pid].includes((await crowdsec.status()).pid)).toBe(false);
  }));

test('a change of what it judges by is followed while it runs', () =>
  given(async ({ crowdsec, scripted, world }) => {
    scripted.scenario('two');
    world.isWanted = true;
    await expect.poll(async () => (await crowdsec.status()).acquisition.length).toBe(1);
    await crowdsec.presets.takeBack('test/two', actor);
    expect((await crowdsec.status()).scenarios).toEqual(['test/one']);
  }));

test('where it is not installed that is said', () =>
  given(async ({ crowdsec, scripted, recorded }) => {
    scripted.program.daemon = '/nowhere';
    expect(await crowdsec.status()).toMatchObject({
      ...{ status: 'not_installed', version: null, pid: null },
      issue: expect.stringContaining('bin/up --with=crowdsec'),
    });
    await expect(crowdsec.start(actor)).rejects.toMatchObject({ status: 503 });
    expect(recorded).toEqual([]);
  }));
