import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedLapi, startScriptedLapi } from '../../../testing/start-scripted-lapi.ts';
import { createLapiWriter, type WantedDecision } from './lapi-writer.ts';

let lapi: ScriptedLapi;
beforeAll(async () => {
  lapi = await startScriptedLapi();
});
afterAll(() => lapi.stop());

const NOW = '2026-01-01T00:00:00.000Z';
const LOGIN = 'POST /v1/watchers/login';
const ALERTS = 'POST /v1/alerts';
const busy = { status: 500, body: '{"message":"database is locked"}' };

const given = () => {
  lapi.taken();
  return createLapiWriter(lapi.port, () => ({ machine_id: 'us', password: 'secret' }));
};
const wanted = (ip: string, leftMs: number | null = 60_000): WantedDecision => ({
  ip,
  origin: 'o',
  scenario: 's',
  leftMs,
});
const asked = () => lapi.taken().map(({ what }) => what);

test('signs in once, and makes and ends bans of addresses and networks', async () => {
  const writer = given();
  await writer.add([wanted('198.51.100.1', 1_400), wanted('203.0.113.0/24', null), wanted('2001:db8::1', 1)], NOW);
  const [login, alerts] = lapi.taken();
  expect(login).toMatchObject({ what: LOGIN, body: { machine_id: 'us', password: 'secret' } });
  expect(alerts?.headers.authorization).toMatch(/^Bearer token-\d+$/);
  const made = (scope: string, value: string, duration: string) => ({
    start_at: NOW,
    stop_at: NOW,
    source: { scope, value },
    // What it wants of every alert.
    ...{ scenario: 's', scenario_hash: '', scenario_version: '', message: 's', events_count: 1, events: [] },
    ...{ capacity: 0, leakspeed: '0', simulated: false },
    decisions: [{ duration, origin: 'o', scenario: 's', scope, type: 'ban', value }],
  });
  expect(alerts).toMatchObject({
    what: ALERTS,
    body: [
      made('Ip', '198.51.100.1', '1s'),
      made('Range', '203.0.113.0/24', '315360000s'),
      made('Ip', '2001:db8::1', '1s'),
    ],
  });
  const [first] = lapi.decisions();
  await writer.remove(first?.id ?? 0);
  expect(asked()).toEqual([`DELETE /v1/decisions/${first?.id}`]);
  expect(lapi.decisions().map(({ value }) => value)).not.toContain('198.51.100.1');
});

test('tells of many in portions, and of none nothing', async () => {
  const writer = given();
  await writer.add([], NOW);
  expect(asked()).toEqual([]);
  await writer.add(
    Array.from({ length: 2_001 }, (_, index) => wanted(`10.0.${index >> 8}.${index & 255}`)),
    NOW,
  );
  expect(lapi.taken().flatMap(({ body }) => (Array.isArray(body) ? [body.length] : []))).toEqual([2_000, 1]);
});

test('signs in anew when its token has ended, and no more than once', async () => {
  const writer = given();
  await writer.add([wanted('198.51.100.2')], NOW);
  lapi.forgetTokens();
  await writer.add([wanted('198.51.100.3')], NOW);
  expect(asked()).toEqual([LOGIN, ALERTS, ALERTS, LOGIN, ALERTS]);
  lapi.script(ALERTS, { status: 401 }, { status: 401 });
  await expect(writer.add([wanted('198.51.100.4')], NOW)).rejects.toThrow(`answers 401 to ${ALERTS}`);
  expect(asked()).toEqual([ALERTS, LOGIN, ALERTS]);
});

test('says that its name or password is refused', async () => {
  for (const answer of [{ status: 403 }, { status: 200, body: '{}' }, { status: 401, body: '{"token":"x"}' }]) {
    const writer = given();
    lapi.script(LOGIN, answer);
    await expect(writer.remove(1)).rejects.toThrow(
      `the local API of CrowdSec answers ${answer.status} to our name and password`,
    );
    // What is no token is not kept for one.
    await writer.remove(1);
  }
});

test('asks again when the database is busy, five times', async () => {
  const writer = given();
  lapi.script(ALERTS, ...Array(5).fill(busy));
  await writer.add([wanted('198.51.100.5')], NOW);
  expect(asked()).toEqual([LOGIN, ...Array(6).fill(ALERTS)]);
  lapi.script(ALERTS, ...Array(6).fill(busy));
  await expect(writer.add([wanted('198.51.100.6')], NOW)).rejects.toThrow(
    `answers 500 to ${ALERTS}: database is locked`,
  );
});

test('what is gone already is removed; what is refused for another reason is not asked again', async () => {
  const writer = given();
  lapi.script('DELETE', { status: 404 });
  await writer.remove(999);
  lapi.script(ALERTS, { status: 404, body: '{"message":"no"}' });
  await expect(writer.add([wanted('198.51.100.7')], NOW)).rejects.toThrow(`answers 404 to ${ALERTS}: no`);
  lapi.script('DELETE', { status: 403 });
  await expect(writer.remove(7)).rejects.toThrow('answers 403 to DELETE /v1/decisions/7');
  expect(asked()).toEqual([LOGIN, 'DELETE /v1/decisions/999', ALERTS, 'DELETE /v1/decisions/7']);
});
