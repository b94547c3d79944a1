import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedLapi, startScriptedLapi } from '../../../testing/start-scripted-lapi.ts';
import { readDecisions } from './lapi.ts';
import { createLapiWriter } from './lapi-writer.ts';
import { createMirror, partOurs } from './mirror.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

let lapi: ScriptedLapi;
beforeAll(async () => {
  lapi = await startScriptedLapi();
});
afterAll(() => lapi.stop());
beforeEach(async () => {
  for (const { id } of lapi.decisions()) lapi.end(id);
  await readDecisions(lapi.port, 'key', true);
});

const given = () => {
  const mirror = createMirror(createLapiWriter(lapi.port, () => ({ machine_id: 'us', password: 'x' })));
  const read = async (isAll: boolean, now = NOW) =>
    mirror.take(partOurs(await readDecisions(lapi.port, 'key', isAll)).ours, isAll, now);
  return { ...mirror, read };
};
const own = (ip: string, ends = NOW + HOUR_MS) => ({ ip, ends });
const there = () =>
  lapi
    .decisions()
    .map(({ value, origin, duration }) => `${value} ${origin} ${duration}`)
    .sort();

test('tells of what is ours, once, and ends what is not ours any more', async () => {
  const { settle, read } = given();
  const wanted = [own('198.51.100.1'), own('203.0.113.0/24', Number.POSITIVE_INFINITY)];
  await settle(wanted, NOW);
  const both = ['198.51.100.1 sallyport 3600s', '203.0.113.0/24 sallyport 315360000s'];
  expect(there()).toEqual(both);
  // Not before it was read back, nor after.
  await settle(wanted, NOW);
  expect(await read(false)).toEqual([]);
  await settle(wanted, NOW);
  expect(await read(true)).toEqual([]);
  await settle(wanted, NOW);
  expect(there()).toEqual(both);
  await settle([own('198.51.100.1')], NOW);
  expect(there()).toEqual([both[0]]);
  await settle([], NOW);
  expect(there()).toEqual([]);
});

test('what differences leave out is told again when the whole list lacks it', async () => {
  const { settle, read } = given();
  await settle([own('198.51.100.2')], NOW);
  for (const { id } of lapi.decisions()) lapi.end(id);
  // It never saw that decision, so that nobody ended it.
  expect(await read(true)).toEqual([]);
  await settle([own('198.51.100.2')], NOW);
  expect(there()).toHaveLength(1);
});

test('of several about one network the longest is told, and a longer one takes its place', async () => {
  const { settle, read } = given();
  await settle([own('198.51.100.3', NOW + 2 * HOUR_MS), own('198.51.100.3')], NOW);
  expect(there()).toEqual(['198.51.100.3 sallyport 7200s']);
  await read(true);
  // A minute more or less is lost on the way.
  await settle([own('198.51.100.3', NOW + 2 * HOUR_MS + 60_000)], NOW);
  expect(there()).toEqual(['198.51.100.3 sallyport 7200s']);
  await settle([own('198.51.100.3', NOW + 2 * HOUR_MS + 60_001)], NOW);
  expect(there()).toEqual(['198.51.100.3 sallyport 7260s']);
});

test('two that it has of one network become one', async () => {
  const { settle, read } = given();
  for (const duration of ['1h0m0s', '1h0m1s']) lapi.make({ value: '198.51.100.4', origin: 'sallyport', duration });
  await read(true);
  await settle([own('198.51.100.4')], NOW);
  expect(there()).toEqual(['198.51.100.4 sallyport 1h0m0s']);
});

test('what ends in a moment is told to nobody', async () => {
  const { settle } = given();
  await settle([own('198.51.100.5', NOW + 5_000), own('198.51.100.6', NOW + 5_001)], NOW);
  expect(there()).toEqual(['198.51.100.6 sallyport 5s']);
});

test('says what was ended there before its time, and only that', async () => {
  const { settle, read } = given();
  const wanted = [own('198.51.100.7'), own('198.51.100.8'), own('198.51.100.9')];
  await settle(wanted, NOW);
  await read(false);
  const [seventh, eighth] = lapi.decisions();
  lapi.end(seventh?.id ?? 0);
  expect(await read(false)).toEqual(['198.51.100.7']);
  // The other has run out by itself.
  lapi.end(eighth?.id ?? 0);
  expect(await read(false, NOW + HOUR_MS - 5_000)).toEqual([]);
  // What was ended there and is wanted here anew is told anew.
  await settle(wanted.slice(0, 1), NOW);
  expect(there().filter((one) => one.startsWith('198.51.100.7 '))).toHaveLength(1);
});

test('an end that it was told of first counts, however often it is told again', async () => {
  const { settle, read } = given();
  await settle([own('198.51.100.10')], NOW);
  await read(true);
  // An hour is left of it always, here.
  await read(true, NOW + 30 * 60_000);
  await settle([own('198.51.100.10')], NOW + 30 * 60_000);
  expect(there()).toEqual(['198.51.100.10 sallyport 3600s']);
});

test('parts what was told of ours from the rest', () => {
  const one = (origin: string) => ({
    id: 1,
    scope: 'Ip',
    type: 'ban',
    value: 'x',
    duration: '1h',
    scenario: 's',
    origin,
  });
  const [ours, others] = [one('sallyport'), one('crowdsec')];
  expect(partOurs({ added: [ours, others], deleted: [others, ours] })).toEqual({
    ours: { added: [ours], deleted: [ours] },
    others: { added: [others], deleted: [others] },
  });
});
