import type { LogEntry } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedLapi, startScriptedLapi } from '../../../testing/start-scripted-lapi.ts';
import { storedDecisions } from '../../../testing/stored-decisions.ts';
import { withStore } from '../../../testing/with-store.ts';
import { createLapiWriter } from './lapi-writer.ts';
import { createSync } from './sync.ts';

let lapi: ScriptedLapi;
beforeAll(async () => {
  lapi = await startScriptedLapi();
});
afterAll(() => lapi.stop());

const HOUR_MS = 3_600_000;
const STREAM = 'GET /v1/decisions/stream';
const actor = systemActor('test');
const SOON = { timeout: 60_000, interval: 20 };

interface Given {
  sync: ReturnType<typeof createSync>;
  decisions: ReturnType<typeof storedDecisions>;
  /** Networks that are banned here, by source. */
  banned: () => Promise<string[]>;
  /** Those that it knows there, with their origins. */
  known: () => string[];
  told: LogEntry[];
  useless: boolean[];
  hooks: { isEnrolled: boolean };
  /** Waits for so many answers of its list from now on: by then the turns before the last are over. */
  turns: (count?: number) => Promise<void>;
}

/** Follows the scripted CrowdSec with the decisions of a store. */
const following = (work: (given: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    for (const { id } of lapi.decisions()) lapi.end(id);
    lapi.unscript();
    const hooks = { isEnrolled: false };
    const [told, useless] = [[] as LogEntry[], [] as boolean[]];
    const decisions = storedDecisions({ kysely: db, transact }, async (_tx: unknown, entry: ChangeEntry) =>
      expect(entry.actor).toBeDefined(),
    );
    const sync = createSync({
      port: lapi.port,
      decisions,
      writer: createLapiWriter(lapi.port, () => ({ machine_id: 'us', password: 'x' })),
      isEnrolled: async () => hooks.isEnrolled,
      publish: (entry) => void told.push(entry),
      clock: () => new Date(),
      onUseless: async (isUnknown) => void useless.push(isUnknown),
      log: pino({ level: 'silent' }),
      pollMs: 50,
    });
    const watch = sync.watch();
    const banned = async () => {
      const all = await Promise.all(['crowdsec', 'manual'].map((source) => decisions.ofSource(source)));
      return all.flatMap((some, at) => some.map(({ ip }) => `${ip} ${at === 0 ? 'crowdsec' : 'manual'}`)).sort();
    };
    const known = () =>
      lapi
        .decisions()
        .map(({ value, origin }) => `${value} ${origin}`)
        .sort();
    const turns = async (count = 2) => {
      let seen = 0;
      lapi.taken();
      await expect
        .poll(() => {
          seen += lapi.taken().filter(({ what }) => what.startsWith(STREAM)).length;
          return seen;
        }, SOON)
        .toBeGreaterThanOrEqual(count);
    };
    try {
      await work({ sync, decisions, banned, known, told, useless, hooks, turns });
    } finally {
      await watch.stop();
    }
  });

const ban = (ip: string) => ({
  ip,
  details: 'x/probing (crowdsec)',
  expires_at: new Date(Date.now() + HOUR_MS).toISOString(),
});

test('what is decided on either side is known on the other, and ends on both', () =>
  following(async ({ sync, decisions, banned, known, told }) => {
    lapi.make({ value: '198.51.100.1' });
    sync.follow('key');
    await expect.poll(banned, SOON).toEqual(['198.51.100.1 crowdsec']);
    expect(sync.issue()).toBeNull();
    await expect.poll(() => sync.lastSync(), SOON).not.toBeNull();
    expect(told).toMatchObject([{ level: 'warn', source: 'crowdsec', message: '1 bans of CrowdSec came into force' }]);

    const second = lapi.make({ value: '198.51.100.2' });
    const made = await decisions.create({ ip: '203.0.113.1', action: 'block', duration: '1h' }, actor);
    await expect.poll(banned, SOON).toEqual(['198.51.100.1 crowdsec', '198.51.100.2 crowdsec', '203.0.113.1 manual']);
    await expect.poll(known, SOON).toContain('203.0.113.1 sallyport');
    await expect
      .poll(() => told.at(-1), SOON)
      .toMatchObject({
        message: 'CrowdSec banned 198.51.100.2: x/probing (crowdsec)',
        fields: { ip: '198.51.100.2' },
      });

    // Ten years are without an end.
    const endless = await decisions.create({ ip: '203.0.113.2', action: 'block' }, actor);
    await expect.poll(known, SOON).toContain('203.0.113.2 sallyport');
    await decisions.remove(endless.id, actor);

    lapi.end(second);
    await decisions.remove(made.id, actor);
    await expect.poll(banned, SOON).toEqual(['198.51.100.1 crowdsec']);
    await expect.poll(known, SOON).toEqual(['198.51.100.1 crowdsec']);
  }));

test('what it can’t be asked for stays in force, and is told', () =>
  following(async ({ sync, banned, useless, turns }) => {
    lapi.make({ value: '198.51.100.3' });
    sync.follow('key');
    await expect.poll(banned, SOON).toEqual(['198.51.100.3 crowdsec']);
    lapi.script(STREAM, { status: 500 }, { status: 200, body: '' }, { status: 500 }, { status: 500 });
    await turns(6);
    // Four in a row are an accident, as writers that meet make it.
    expect(useless).toEqual([]);
    expect(sync.issue()).toBeNull();
    expect(await banned()).toEqual(['198.51.100.3 crowdsec']);
    // A key that it does not know means another database: that is told at once.
    lapi.script(STREAM, { status: 403 });
    await expect.poll(() => useless, SOON).toEqual([true]);
    expect(await banned()).toEqual(['198.51.100.3 crowdsec']);
    // At rest nothing is read.
    sync.rest();
    expect(sync.issue()).toBeNull();
  }));

test('a program that answers nothing but errors is told for useless', () =>
  following(async ({ sync, useless }) => {
    lapi.script(STREAM, ...Array(1_000).fill({ status: 500 }));
    sync.follow('key');
    await expect.poll(() => useless[0], SOON).toBe(false);
    expect(sync.issue()).toBe("its decisions can't be read: the local API of CrowdSec answers 500");
    lapi.unscript();
    await expect.poll(() => sync.issue(), SOON).toBeNull();
  }));

test('a ban that somebody ended here is ended there', () =>
  following(async ({ sync, decisions, banned, known }) => {
    lapi.make({ value: '198.51.100.4' });
    lapi.make({ value: '198.51.100.5' });
    sync.follow('key');
    await expect.poll(banned, SOON).toHaveLength(2);
    await decisions.removeOfSource('crowdsec', ['198.51.100.4'], actor);
    sync.follow('key');
    await expect.poll(known, SOON).toEqual(['198.51.100.5 crowdsec']);
    expect(await banned()).toEqual(['198.51.100.5 crowdsec']);
  }));

test('bans that are all gone here were ended by nobody: they come back', () =>
  following(async ({ sync, decisions, banned, known }) => {
    const networks = Array.from({ length: 101 }, (_, index) => `198.51.100.${index}`);
    for (const value of networks) lapi.make({ value });
    sync.follow('key');
    await expect.poll(banned, SOON).toHaveLength(101);
    await decisions.removeOfSource('crowdsec', networks, actor);
    sync.follow('key');
    await expect.poll(banned, SOON).toHaveLength(101);
    expect(known()).toHaveLength(101);
  }));

test('lists of others are enforced while it is enrolled, and go when that ends', () =>
  following(async ({ sync, banned, hooks, told, turns }) => {
    lapi.make({ value: '198.51.100.6', origin: 'CAPI' });
    lapi.make({ value: '198.51.100.7' });
    sync.follow('key');
    await expect.poll(banned, SOON).toEqual(['198.51.100.7 crowdsec']);
    await turns();
    expect(await banned()).toEqual(['198.51.100.7 crowdsec']);
    hooks.isEnrolled = true;
    lapi.make({ value: '198.51.100.8', origin: 'lists' });
    await expect.poll(banned, SOON).toEqual(['198.51.100.7 crowdsec', '198.51.100.8 crowdsec']);
    await expect
      .poll(() => told.at(-1)?.message, SOON)
      .toBe('1 bans of lists of others came into force or were renewed');
    hooks.isEnrolled = false;
    await sync.dropOthers();
    expect(await banned()).toEqual(['198.51.100.7 crowdsec']);
    await turns();
    expect(await banned()).toEqual(['198.51.100.7 crowdsec']);
  }));

test('a new database is given back the bans of the old one, but those of others, which stay until it has read them', () =>
  following(async ({ sync, decisions, banned, known, hooks, turns }) => {
    hooks.isEnrolled = true;
    const others = { ...ban('198.51.100.10'), details: 'list (CAPI)' };
    await decisions.replaceSource('crowdsec', [ban('198.51.100.9'), others], actor);
    sync.giveBack();
    sync.follow('key');
    await expect.poll(known, SOON).toEqual(['198.51.100.9 crowdsec']);
    await turns();
    const both = ['198.51.100.10 crowdsec', '198.51.100.9 crowdsec'];
    expect(await banned()).toEqual(both);
    expect(lapi.decisions()).toMatchObject([{ scenario: 'x/probing', value: '198.51.100.9' }]);
    // Once, and its scenario without what was put behind it.
    sync.follow('key');
    await turns();
    expect(known()).toHaveLength(1);
    lapi.make({ value: '198.51.100.11', origin: 'CAPI' });
    sync.follow('key');
    await expect.poll(banned, SOON).toEqual(['198.51.100.11 crowdsec', '198.51.100.9 crowdsec']);
  }));
