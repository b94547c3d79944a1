import type { CountryLookup } from '@sallyport/access';
import type { Database } from '@sallyport/store/database/open';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { guardBlock } from '../../../testing/guard-line.ts';
import { withStore } from '../../../testing/with-store.ts';
import type { SecurityEvent } from '../logs/security-event.ts';
import { countStore } from './counts/store.ts';
import { type BlockDeps, createBlocks } from './service.ts';
import { blockStore } from './store.ts';

const NOW = new Date('2026-11-21T00:00:00.000Z');
const refusal = (reference: string, fields: object = {}) =>
  guardBlock({ reference, ...fields }) as object as SecurityEvent;

const blocksOf = ({ kysely: db }: Database, more: Partial<BlockDeps> = {}) =>
  createBlocks({
    ...{ db, store: blockStore, counts: countStore, country: undefined, isShared: false },
    ...{ limit: async () => 1_000, clock: () => NOW, log: pino({ level: 'silent' }) },
    ...more,
  });

const countriesOf = async ({ kysely }: Database) => {
  const rows = await kysely.selectFrom('security_blocks').select(['reference', 'country']).orderBy('id').execute();
  return Object.fromEntries(rows.map(({ reference, country }) => [reference, country]));
};

/** 203.0.113.0/24 is in France, or where `code` says; `isBroken` makes every question fail. */
const france = () => {
  const state = { isBroken: false, asked: 0, code: 'FR' };
  const country: CountryLookup = (ip) => {
    state.asked += 1;
    if (state.isBroken) throw new Error('no database');
    return ip.startsWith('203.0.113.') ? state.code : null;
  };
  return { state, country };
};

test('of one client that is shut out ten are kept together, of one that is judged a hundred, of all two thousand', () =>
  withStore(async (database) => {
    const blocks = blocksOf(database, { limit: async () => 10_000 });
    const record = (kind: string, count: number, fields: object) => {
      for (let index = 0; index < count; index += 1) blocks.record(refusal(`${kind}-${index}`, fields));
    };
    record('banned', 12, { layer: 'decision' });
    record('limited', 1, { layer: 'rate_limit' });
    record('judged', 103, { layer: 'acl' });
    record('other', 11, { layer: 'rate_limit', ip: '192.0.2.1' });
    expect(blocks.dropped()).toBe(2 + 1 + 3 + 1);
    for (let index = 0; index < 2_000; index += 1) blocks.record(refusal(`many-${index}`, { ip: `client ${index}` }));
    expect(blocks.dropped()).toBe(7 + 120);
    expect((await blocks.list({ limit: 10 })).total).toBe(2_000);
    // They no longer wait.
    blocks.record(refusal('banned-12', { layer: 'decision' }));
    expect(blocks.dropped()).toBe(127);
    expect((await blocks.find('banned-12')).layer).toBe('decision');
    await blocks.stop();
  }));

test('what waits is written by itself, and when it stops', () =>
  withStore(async (database) => {
    const blocks = blocksOf(database);
    blocks.record(refusal('first'));
    await expect.poll(() => countriesOf(database)).toEqual({ first: '' });
    blocks.record(refusal('second'));
    await expect.poll(() => countriesOf(database)).toEqual({ first: '', second: '' });
    blocks.record(refusal('third'));
    await blocks.stop();
    expect(await countriesOf(database)).toEqual({ first: '', second: '', third: '' });
  }));

test('is found by reference, and listed by layer, host, address, country and text', () =>
  withStore(async (database) => {
    const blocks = blocksOf(database, { country: france().country });
    blocks.record(refusal('a', { host: 'Shop.Example.com', layer: 'acl', host_id: null }));
    blocks.record(refusal('b', { ip: '192.0.2.9', request_uri: '/100%_sure' }));
    blocks.record(refusal('b', { ip: '192.0.2.10' }));
    blocks.record(refusal('c', { ip: 'unix' }));
    const list = async (query: Parameters<typeof blocks.list>[0]) =>
      (await blocks.list(query)).rows.map(({ reference }) => reference);
    expect(await list({})).toEqual(['c', 'b', 'a']);
    expect(await list({ sort: 'ip', order: 'asc' })).toEqual(['b', 'a', 'c']);
    expect(await list({ sort: 'timestamp', order: 'asc' })).toEqual(['a', 'b', 'c']);
    expect(await list({ layer: 'acl' })).toEqual(['a']);
    expect(await list({ host: 'SHOP.example.com' })).toEqual(['a']);
    expect(await list({ ip: '::ffff:192.0.2.9' })).toEqual(['b']);
    expect(await list({ country: 'fr' })).toEqual(['a']);
    expect(await list({ country: 'unknown' })).toEqual(['c', 'b']);
    expect(await list({ search: '00%_S' })).toEqual(['b']);
    await expect(list({ ip: '192.0.2.0/24' })).rejects.toThrow('ip must be an IP address, not a range');
    await expect(list({ ip: 'here' })).rejects.toThrow('ip "here" is not an IP address');
    const [summary] = (await blocks.list({ layer: 'acl' })).rows;
    const { host_id, matches, ...told } = refusal('a', { host: 'Shop.Example.com', layer: 'acl' });
    expect(summary).toEqual({ ...told, host_uuid: null });
    expect(await blocks.known(['a', 'b', 'x'])).toEqual(new Set(['a', 'b']));
    expect(await blocks.find('b')).toMatchObject({ ip: '192.0.2.9', matches: expect.any(Array), host_uuid: null });
    expect(await blocks.find('b')).not.toHaveProperty('host_id');
    expect((await blocks.find('b')).exclusions).toMatchObject([{ rule_id: 942100, target: 'ARGS:q' }]);
    await expect(blocks.find('x')).rejects.toMatchObject({ status: 404 });
    await blocks.stop();
  }));

test('only the newest are kept, and it is told since when', () =>
  withStore(async (database) => {
    let limit = 3;
    const blocks = blocksOf(database, { limit: async () => limit });
    const at = (second: number) => `2026-11-20T12:00:0${second}.000Z`;
    expect(await blocks.since()).toBe(Number.NEGATIVE_INFINITY);
    for (const second of [1, 2]) blocks.record(refusal(`r${second}`, { timestamp: at(second) }));
    await blocks.trim();
    expect([await blocks.since(), await blocks.areKept()]).toEqual([Number.NEGATIVE_INFINITY, true]);
    blocks.record(refusal('r3', { timestamp: at(3) }));
    await blocks.trim();
    expect(await blocks.since()).toBe(Date.parse(at(1)));
    blocks.record(refusal('r4', { timestamp: at(4) }));
    await blocks.trim();
    expect(Object.keys(await countriesOf(database))).toEqual(['r2', 'r3', 'r4']);
    expect(await blocks.since()).toBe(Date.parse(at(2)));
    limit = 1;
    await blocks.trim();
    expect(Object.keys(await countriesOf(database))).toEqual(['r4']);
    limit = 0;
    blocks.record(refusal('r5'));
    await blocks.trim();
    expect([await countriesOf(database), await blocks.areKept()]).toEqual([{}, false]);
    expect(await blocks.since()).toBe(Number.NEGATIVE_INFINITY);
    await blocks.stop();
  }));

test('countries that could not be looked up follow with the next refusal, once', () =>
  withStore(async (database) => {
    const { state, country } = france();
    const warned: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void warned.push(line) });
    const blocks = blocksOf(database, { country, log });
    state.isBroken = true;
    blocks.record(refusal('a'));
    await blocks.trim();
    expect(await countriesOf(database)).toEqual({ a: '' });
    // Nothing new: nothing is tried.
    const { asked } = state;
    await blocks.trim();
    expect(state.asked).toBe(asked);
    state.isBroken = false;
    blocks.record(refusal('b', { ip: '192.0.2.1' }));
    await blocks.find('b');
    await expect.poll(() => countriesOf(database)).toEqual({ a: 'FR', b: '-' });
    await blocks.completeCountries();
    expect(warned).toEqual([]);
    await database.kysely.updateTable('security_blocks').set({ country: '' }).execute();
    state.isBroken = true;
    await blocks.completeCountries();
    expect(warned).toEqual([expect.stringContaining('countries of refused requests can not be looked up')]);
    await blocks.stop();
  }));

test('what an earlier version kept is completed, whatever is wrong with it', () =>
  withStore(async (database) => {
    const { country } = france();
    const blocks = blocksOf(database, { country, isShared: true });
    const kept = (reference: string, entry: string) => ({
      ...{ reference, entry, layer: 'waf', host: 'a.test', ip: '203.0.113.7', host_id: null },
      ...{ at_ms: 0, monitored: 0, rule_id: null, country: '' },
    });
    const whole = JSON.stringify(refusal('whole', { monitored: true, rule_id: 7 }));
    const rows = [kept('whole', whole), kept('broken', '{"timestamp":'), kept('timeless', '{"monitored":true}')];
    await database.kysely.insertInto('security_blocks').values(rows).execute();
    const columns = ['reference', 'at_ms', 'monitored', 'rule_id'] as const;
    const told = () => database.kysely.selectFrom('security_blocks').select(columns).orderBy('id').execute();
    expect(await blocks.summary({ since: '2026-11-20T00:00:00Z' })).toMatchObject({
      total: { count: 0, monitored: 1 },
      countries: [{ country: 'FR', count: 0, monitored: 1 }],
    });
    expect(await told()).toEqual([
      { reference: 'whole', at_ms: Date.parse('2026-11-20T12:00:00.000Z'), monitored: 1, rule_id: 7 },
      { reference: 'broken', at_ms: -1, monitored: 0, rule_id: null },
      { reference: 'timeless', at_ms: -1, monitored: 1, rule_id: null },
    ]);
    expect(Object.values(await countriesOf(database))).toEqual(['', '', '']);
    blocks.record(refusal('next'));
    await blocks.trim();
    await expect.poll(async () => Object.values(await countriesOf(database))).toEqual(['FR', 'FR', 'FR', 'FR']);
    await blocks.stop();
  }));

test('more than a portion of entries without a country are completed, and none without a country database', () =>
  withStore(async (database) => {
    const without = blocksOf(database);
    for (let index = 0; index < 450; index += 1)
      without.record(refusal(`r${index}`, { ip: `203.0.113.${index % 200}` }));
    await without.stop();
    await without.completeCountries();
    expect(new Set(Object.values(await countriesOf(database)))).toEqual(new Set(['']));
    const blocks = blocksOf(database, { country: france().country });
    await blocks.completeCountries();
    expect(new Set(Object.values(await countriesOf(database)))).toEqual(new Set(['FR']));
    await blocks.stop();
  }));

test('counts are of the time that is asked for, the most frequent first', () =>
  withStore(async (database) => {
    const { state, country } = france();
    const blocks = blocksOf(database, { country });
    const at = (time: string) => `2026-11-20T${time}Z`;
    const events = [
      refusal('before', { timestamp: '2026-11-19T23:59:59.999Z' }),
      refusal('a', { timestamp: at('00:00:00.000'), host: 'a.test', ip: '192.0.2.1' }),
      refusal('b', { timestamp: at('11:59:59.999'), host: 'b.test', monitored: true, rule_id: 942100 }),
      refusal('c', { timestamp: at('12:00:00.000'), host: 'b.test', rule_id: 942100 }),
      refusal('d', { timestamp: at('23:59:59.999'), host: 'b.test', layer: 'acl', rule_id: null, matches: [] }),
      refusal('after', { timestamp: '2026-11-21T00:00:00.000Z' }),
    ];
    for (const event of events) blocks.record(event);
    const day = { since: at('00:00:00'), until: '2026-11-21T00:00:00Z' };
    const answer = await blocks.summary({ ...day, parts: 2 });
    expect(answer).toEqual({
      since: '2026-11-20T00:00:00.000Z',
      until: '2026-11-21T00:00:00.000Z',
      complete_since: '2026-11-20T00:00:00.000Z',
      total: { count: 3, monitored: 1 },
      over_time: [
        { at: '2026-11-20T00:00:00.000Z', count: 1, monitored: 1 },
        { at: '2026-11-20T12:00:00.000Z', count: 2, monitored: 0 },
      ],
      hosts: [
        { host: 'b.test', count: 2, monitored: 1 },
        { host: 'a.test', count: 1, monitored: 0 },
      ],
      rules: [
        {
          ...{ rule_id: 942100, layer: 'waf', message: 'SQL Injection Attack Detected via libinjection' },
          ...{ count: 1, monitored: 1 },
        },
        { rule_id: null, layer: 'acl', count: 1, monitored: 0 },
        { rule_id: 949110, layer: 'waf', message: 'Inbound Anomaly Score Exceeded', count: 1, monitored: 0 },
      ],
      addresses: [
        { ip: '203.0.113.7', country: 'FR', count: 2, monitored: 1 },
        { ip: '192.0.2.1', country: null, count: 1, monitored: 0 },
      ],
      countries: [
        { country: 'FR', count: 2, monitored: 1 },
        { country: null, count: 1, monitored: 0 },
      ],
    });
    // What has not changed is not counted again.
    expect(await blocks.summary({ ...day, parts: 2 })).toBe(answer);
    expect((await blocks.summary(day)).over_time).toHaveLength(48);
    const { since, until } = await blocks.summary({});
    expect([since, until]).toEqual(['2026-11-20T00:00:00.000Z', NOW.toISOString()]);
    await expect(blocks.summary({ since: 'x' })).rejects.toThrow('since must be a valid date-time');
    await expect(blocks.summary({ since: NOW.toISOString() })).rejects.toThrow('since must be before until');
    // Where countries can't be read now, those that are kept are told.
    state.isBroken = true;
    blocks.record(refusal('lacks', { timestamp: at('13:00:00.000'), ip: '203.0.113.99' }));
    const lacking = await blocks.summary({ ...day, parts: 3 });
    expect(lacking.countries).toBeNull();
    expect(lacking.addresses.map(({ ip, country }) => [ip, country])).toEqual([
      ['203.0.113.7', 'FR'],
      ['192.0.2.1', null],
      ['203.0.113.99', null],
    ]);
    state.isBroken = false;
    state.code = 'BE';
    // It is not the answer that is told again, and what is kept stays.
    const { addresses } = await blocks.summary({ ...day, parts: 3 });
    expect(addresses.map(({ country }) => country)).toEqual(['FR', null, 'BE']);
    await blocks.stop();
  }));

test('a count says since when it is whole, and holds ten of each at most', () =>
  withStore(async (database) => {
    let limit = 30;
    const blocks = blocksOf(database, { limit: async () => limit });
    for (let index = 10; index < 45; index += 1) {
      const which = `${index % 12}`;
      blocks.record(
        refusal(`r${index}`, { timestamp: `2026-11-20T12:00:${index}.000Z`, host: which, ip: `::${which}` }),
      );
    }
    const count = await blocks.summary({});
    expect([count.complete_since, count.total.count]).toEqual(['2026-11-20T12:00:15.000Z', 30]);
    expect([count.hosts.length, count.addresses.length, count.countries]).toEqual([10, 10, null]);
    expect(count.hosts[0]).toMatchObject({ count: 3 });
    const hours = (since: string, until: string) =>
      blocks.summary({ since: `2026-11-20T${since}Z`, until: `2026-11-20T${until}Z` });
    // Of a time after the oldest all is there; of one before, nothing is known.
    expect((await hours('12:00:20', '13:00:00')).complete_since).toBe('2026-11-20T12:00:20.000Z');
    expect((await hours('10:00:00', '11:00:00')).complete_since).toBe('2026-11-20T11:00:00.000Z');
    limit = 0;
    await blocks.trim();
    expect((await hours('10:00:00', '13:00:00')).complete_since).toBe('2026-11-20T13:00:00.000Z');
    await blocks.stop();
  }));

test('more than eight counts at once are refused', () =>
  withStore(async (database) => {
    const blocks = blocksOf(database);
    const answers = await Promise.allSettled(
      Array.from({ length: 9 }, (_, parts) => blocks.summary({ parts: parts + 1 })),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    expect(answers[8]).toMatchObject({ reason: { status: 429 } });
    await blocks.stop();
  }));
