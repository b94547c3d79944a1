import { appendFileSync, closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
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
import { WHITELIST_FILE } from './files.ts';
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

test.concurrent('who comes into admin_whitelist while it runs is spared from then on', async (context) => {
  const app = await startWithCrowdsec(context);
  const { pid } = await runCrowdsec(app);
  const log = join(app.dataDir, 'crowdsec/log/access.log');
  const [spared, other] = ['203.0.113.92', '203.0.113.93'];
  await app.send('POST', '/security/config', { admin_whitelist: spared });
  // From the moment this is written it does not read, until it has read it. That it does not may last too short to be seen.
  const whitelist = join(app.dataDir, 'crowdsec', WHITELIST_FILE);
  await until('it is to read anew', () => readFileSync(whitelist, 'utf8').includes(spared), WITHIN_MS);
  expect(await isReading(app)).toMatchObject({ pid });
  for (const path of MISSING) appendFileSync(log, missed(spared, [path]) + missed(other, [path]));
  await until('the other one is banned', async () => (await bannedBy(app)).length > 0, WITHIN_MS);
  expect(await bannedBy(app)).toEqual([other]);
});

test.concurrent('the local API refuses whoever does not name a program and its version, and takes us', async (context) => {
  const app = await startWithCrowdsec(context);
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

test.concurrent('no ban of a burst is lost, whatever differences leave out', async (context) => {
  const app = await startWithCrowdsec(context);
  await runCrowdsec(app);
  const writer = writerFor(app);
  // One call each: they come while others are read, which is when differences lose some.
  for (let index = 0; index < BURST; index += 1) await writer.add([wanted(index)], new Date().toISOString());
  const all = Array.from({ length: BURST }, (_, index) => wanted(index).ip).sort();
  await until('all are known', async () => (await crowdsecStatus(app)).decisions === BURST, WITHIN_MS);
  expect(await bannedBy(app)).toEqual(all);
});

test.concurrent('a database that somebody else holds delays what is told, and loses nothing', async (context) => {
  const app = await startWithCrowdsec(context);
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

/** Overwrites bytes of a file that others have open. */
const spoil = (path: string, from: number, length: number): void => {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(length, 'x'), 0, length, from);
  closeSync(file);
};

/** Spoils the page that a table begins with, and has its other users read it anew. */
const spoilTable = (path: string, table: string): void => {
  const other = new DatabaseSync(path);
  const { rootpage } = other.prepare('select rootpage from sqlite_master where name = ?').get(table) as {
    rootpage: number;
  };
  const { page_size: size } = other.prepare('pragma page_size').get() as { page_size: number };
  const bringHome = () => other.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number };
  while (bringHome().busy !== 0);
  spoil(path, (rootpage - 1) * size, size);
  other.exec('create table marks (id integer); drop table marks');
  other.close();
};

test.concurrent('a database that is damaged while it runs is set aside, also where it does not see that itself', {
  timeout: 300_000,
}, async (context) => {
  const app = await startWithCrowdsec(context);
  let { pid } = await runCrowdsec(app);
  const path = databaseOf(app);
  const log = join(app.dataDir, 'crowdsec/log/access.log');
  const block = { ip: '198.51.100.9', action: 'block', details: 'by hand', duration: '1h' };
  expect((await app.send('POST', '/security/decisions', block)).status).toBe(201);
  await writerFor(app).add([wanted(0)], new Date().toISOString());
  await until('it is known', async () => (await bannedBy(app)).length === 1, WITHIN_MS);
  const told = async (): Promise<string> => {
    const { added } = await readDecisions(app.config.crowdsecPort, keyOf(app), true);
    return added
      .map(({ value }) => value)
      .sort()
      .join();
  };

  const damages: [string, () => void][] = [
    ['its file is overwritten', () => spoil(path, 0, statSync(path).size)],
    ['its files are deleted', () => ['', '-wal', '-shm'].map((end) => rmSync(path + end, { force: true }))],
    // It can tell decisions, and make none any more.
    ['one of its tables is', () => spoilTable(path, 'alerts')],
  ];
  for (const [what, damage] of damages) {
    damage();
    // Who is banned by what it sees has it write.
    appendFileSync(log, missed('203.0.113.70', MISSING));
    await until(
      `another one runs when ${what}`,
      async () => {
        const now = await crowdsecStatus(app);
        return now.pid !== null && now.pid !== pid && now.issue === null && now.acquisition.length > 0;
      },
      WITHIN_MS,
    );
    const known = [...(await bannedBy(app)), '198.51.100.9'].sort().join();
    expect(known).toContain(wanted(0).ip);
    await until('it is told all that was known', async () => (await told()) === known, WITHIN_MS);
    ({ pid } = await crowdsecStatus(app));
  }
});
