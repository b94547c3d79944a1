import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { until } from '../../../../../../test/support/until.ts';
import {
  bannedBy,
  crowdsecStatus,
  isReading,
  MISSING,
  missed,
  runCrowdsec,
  startWithCrowdsec,
  WITHIN_MS,
} from '../../../testing/crowdsec.ts';
import type { TestApp } from '../../../testing/start-app.ts';
import { crowdsecAccount } from './account.ts';
import { readCredentials } from './instance.ts';
import { readDecisions, USER_AGENT } from './lapi.ts';
import { createLapiWriter } from './lapi-writer.ts';

/** What the real CrowdSec does to those who don't expect it. */

const BURST = 600;

const keyOf = (app: TestApp): string => readFileSync(join(app.dataDir, 'crowdsec/key'), 'utf8');

const databaseOf = (app: TestApp): string =>
  join(crowdsecAccount(join(app.dataDir, 'crowdsec')).state.at, 'crowdsec.db');

const writerFor = (app: TestApp) => {
  const account = crowdsecAccount(join(app.dataDir, 'crowdsec'));
  return createLapiWriter(app.config.crowdsecPort, () => readCredentials({ account }));
};

const wanted = (index: number) => ({
  ip: `198.18.${Math.floor(index / 250)}.${1 + (index % 250)}`,
  origin: 'crowdsec',
  scenario: 'test/burst',
  leftMs: 3_600_000,
});

test('the local API refuses whoever does not name a program and its version, and takes us', {
  timeout: 120_000,
}, async () => {
  const app = await startWithCrowdsec();
  await runCrowdsec(app);
  const { crowdsecPort } = app.config;
  const account = crowdsecAccount(join(app.dataDir, 'crowdsec'));
  const login = async (agent: string): Promise<number> => {
    const headers = { 'user-agent': agent, 'content-type': 'application/json' };
    const body = JSON.stringify(readCredentials({ account }));
    const url = `http://127.0.0.1:${crowdsecPort}/v1/watchers/login`;
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  expect(await login('node')).toBe(401);
  expect(await login('sallyport/1.0 node/24')).toBe(401);
  expect(await login(USER_AGENT)).toBe(200);
  await writerFor(app).add([wanted(0)], new Date().toISOString());
  await until('it is known', async () => (await bannedBy(app)).length === 1, WITHIN_MS);
});

test('no ban of a burst is lost, whatever differences leave out', { timeout: 180_000 }, async () => {
  const app = await startWithCrowdsec();
  await runCrowdsec(app);
  const writer = writerFor(app);
  // One call each: they come while others are read, which is when differences lose some.
  for (let index = 0; index < BURST; index += 1) await writer.add([wanted(index)], new Date().toISOString());
  const all = Array.from({ length: BURST }, (_, index) => wanted(index).ip).sort();
  await until('all are known', async () => (await crowdsecStatus(app)).decisions === BURST, WITHIN_MS);
  expect(await bannedBy(app)).toEqual(all);
});

test('a database that somebody else holds delays what is told, and loses nothing', { timeout: 180_000 }, async () => {
  const app = await startWithCrowdsec();
  const { pid } = await runCrowdsec(app);
  const other = new DatabaseSync(databaseOf(app));
  other.exec('begin immediate');
  const block = { ip: '198.51.100.9', action: 'block', details: 'by hand', duration: '1h' };
  expect((await app.send('POST', '/security/decisions', block)).status).toBe(201);
  await until('it is told', async () => (await crowdsecStatus(app)).issue !== null, WITHIN_MS);
  other.exec('rollback');
  other.close();
  await until('it goes on', async () => (await crowdsecStatus(app)).issue === null, WITHIN_MS);
  // What was asked for and not answered may have been done as well: in the end it is there once.
  const told = async (): Promise<string[]> => {
    const { added } = await readDecisions(app.config.crowdsecPort, keyOf(app), true);
    return added.map(({ value, origin }) => `${value} ${origin}`);
  };
  await until('it was told once', async () => (await told()).join() === '198.51.100.9 sallyport', WITHIN_MS);
  expect(await crowdsecStatus(app)).toMatchObject({ pid, status: 'running' });
});

test('who comes into admin_whitelist while it runs is spared from then on', { timeout: 180_000 }, async () => {
  const app = await startWithCrowdsec();
  const { pid } = await runCrowdsec(app);
  const log = join(app.dataDir, 'crowdsec/log/access.log');
  const [spared, other] = ['203.0.113.92', '203.0.113.93'];
  await app.send('POST', '/security/config', { admin_whitelist: spared });
  await until('it reads anew', async () => (await crowdsecStatus(app)).acquisition.length === 0, WITHIN_MS);
  expect(await isReading(app)).toMatchObject({ pid });
  for (const path of MISSING) appendFileSync(log, missed(spared, [path]) + missed(other, [path]));
  await until('the other one is banned', async () => (await bannedBy(app)).length > 0, WITHIN_MS);
  expect(await bannedBy(app)).toEqual([other]);
});
