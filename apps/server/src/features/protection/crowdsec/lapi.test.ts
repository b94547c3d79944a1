import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { type ScriptedLapi, startScriptedLapi } from '../../../testing/start-scripted-lapi.ts';
import { isUp, KeyRefused, readDecisions } from './lapi.ts';

let lapi: ScriptedLapi;
beforeAll(async () => {
  lapi = await startScriptedLapi();
});
afterAll(() => lapi.stop());

const STREAM = 'GET /v1/decisions/stream';
const read = (isAll = true) => readDecisions(lapi.port, 'our-key', isAll);

test('reads all, then what changed, with our key', async () => {
  lapi.taken();
  const first = lapi.make({ value: '198.51.100.1' });
  expect(await read()).toMatchObject({ added: [{ id: first, value: '198.51.100.1' }], deleted: [] });
  lapi.end(first);
  expect(await read(false)).toMatchObject({ added: [], deleted: [{ id: first }] });
  const asked = lapi.taken();
  expect(asked.map(({ what }) => what)).toEqual([`${STREAM}?startup=true`, STREAM]);
  for (const { headers } of asked)
    expect(headers).toMatchObject({ 'x-api-key': 'our-key', 'user-agent': 'sallyport/1.0' });
});

test('none is what an empty list says, or null; what is no decision is left out', async () => {
  lapi.script(STREAM, { status: 200, body: '{"new":null,"deleted":null}' });
  expect(await read()).toEqual({ added: [], deleted: [] });
  const good = { id: 1, scope: 'Ip', type: 'ban', value: '198.51.100.1', duration: '1h' };
  const bad = [
    null,
    'x',
    { ...good, id: '1' },
    ...['scope', 'type', 'value', 'duration'].map((name) => ({ ...good, [name]: 7 })),
  ];
  lapi.script(STREAM, { status: 200, body: JSON.stringify({ new: [...bad, good], deleted: [] }) });
  expect(await read()).toEqual({ added: [good], deleted: [] });
});

// Taken for a list without decisions, each would end all bans.
test.each([
  '',
  'OK',
  'null',
  '[]',
  '"x"',
  '{}',
  '{"new":[]}',
  '{"deleted":[]}',
  '{"new":{},"deleted":[]}',
  '{"new":[],"deleted":7}',
])('an answer that is no list of decisions says nothing of them: %s', async (body) => {
  lapi.script(STREAM, { status: 200, body });
  await expect(read()).rejects.toThrow('told no list of decisions');
});

test('tells a key that it does not know from other refusals', async () => {
  lapi.script(STREAM, { status: 403, body: '{"message":"access forbidden"}' });
  await expect(read()).rejects.toThrow(KeyRefused);
  lapi.script(STREAM, { status: 500, body: '{"new":[],"deleted":[]}' });
  const failed = await read().catch((error: unknown) => error);
  expect(failed).not.toBeInstanceOf(KeyRefused);
  expect(failed).toMatchObject({ message: 'the local API of CrowdSec answers 500' });
});

test('is up when it says so, and in no other case', async () => {
  expect(await isUp(lapi.port)).toBe(true);
  for (const answer of [
    { status: 500, body: '{"status":"up"}' },
    { status: 200, body: '{"status":"down"}' },
    { status: 200, body: 'null' },
    { status: 200, body: 'up' },
    { status: 200, body: `{"status":"up","more":"${'x'.repeat(5_000)}"}` },
  ]) {
    lapi.script('GET /health', answer);
    expect(await isUp(lapi.port), JSON.stringify(answer)).toBe(false);
  }
  expect(await isUp(await freePort())).toBe(false);
});
