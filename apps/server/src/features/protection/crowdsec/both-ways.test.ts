import { execFile } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CrowdsecStart, CrowdsecStatus, Decision } from '@sallyport/contract';
import { expect, type TestContext, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { until } from '../../../../../../test/support/until.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';
import { crowdsecAccount } from './account.ts';
import { DEBIAN } from './program.ts';

const run = promisify(execFile);

/** The real CrowdSec of Debian, and what it and we tell each other. */

const WITHIN_MS = 60_000;

const start = async ({ onTestFinished }: TestContext, config: object = {}): Promise<TestApp> => {
  const app = await startApp('sqlite', { SALLYPORT_CROWDSEC_PORT: String(await freePort()) }, { crowdsec: DEBIAN });
  onTestFinished(() => app.stop());
  await app.send('POST', '/security/config', config);
  const started = await app.send<CrowdsecStart>('POST', '/admin/crowdsec/start');
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  expect(started.body.lapi_ready).toBe(true);
  return app;
};

const cscli = async (app: TestApp, ...args: string[]): Promise<string> => {
  const { wrap, view, cwd } = crowdsecAccount(join(app.dataDir, 'crowdsec'));
  const [command, line] = wrap(DEBIAN.cli, ['-c', `${view}/etc/config.yaml`, 'decisions', ...args]);
  return (await run(command, line, { cwd })).stdout;
};

/** What CrowdSec itself has decided, or was told: `address origin`. */
const theirs = async (app: TestApp): Promise<string[]> => {
  const alerts = (JSON.parse(await cscli(app, 'list', '--all', '-o', 'json')) ?? []) as {
    decisions: { value: string; origin: string }[];
  }[];
  return alerts.flatMap(({ decisions }) => decisions.map(({ value, origin }) => `${value} ${origin}`)).sort();
};

const ours = async (app: TestApp): Promise<Decision[]> =>
  (await app.send<{ decisions: Decision[] }>('GET', '/security/decisions')).body.decisions;
const named = async (app: TestApp): Promise<string[]> =>
  (await ours(app)).map(({ ip, source }) => `${ip} ${source}`).sort();

const equals = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join();

test.concurrent('what is decided on either side is known on the other, once, and ends on both', async (context) => {
  const app = await start(context);
  const block = { action: 'block', details: 'by hand' };
  for (const asked of [{ ip: '198.51.100.9', duration: '1h' }, { ip: '203.0.113.0/24' }]) {
    const made = await app.send('POST', '/security/decisions', { ...block, ...asked });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
  const both = ['198.51.100.9 sallyport', '203.0.113.0/24 sallyport'];
  await until('it was told', async () => equals(await theirs(app), both), WITHIN_MS);
  // A full list comes after half a minute, and brings nothing back.
  const { last_sync: before } = (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;
  await until(
    'all was read again',
    async () => {
      const { last_sync: now } = (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;
      return Date.parse(now ?? '') - Date.parse(before ?? '') > 31_000;
    },
    WITHIN_MS,
  );
  expect(await theirs(app)).toEqual(both);
  expect(await named(app)).toEqual(['198.51.100.9 manual', '203.0.113.0/24 manual']);

  await cscli(app, 'delete', '--ip', '198.51.100.9');
  await until('it is ended here', async () => equals(await named(app), ['203.0.113.0/24 manual']), WITHIN_MS);
  const [range] = await ours(app);
  expect((await app.send('DELETE', `/security/decisions/${range?.id}`)).status).toBe(204);
  await until('it is ended there', async () => equals(await theirs(app), []), WITHIN_MS);

  await cscli(app, 'add', '--ip', '198.51.100.10', '--duration', '1h');
  await until('it is known here', async () => equals(await named(app), ['198.51.100.10 crowdsec']), WITHIN_MS);
  const [ban] = await ours(app);
  expect((await app.send('DELETE', `/security/decisions/${ban?.id}`)).status).toBe(204);
  await until('it is ended there', async () => equals(await theirs(app), []), WITHIN_MS);
  expect(await named(app)).toEqual([]);
});

test.concurrent('administrators are never looked at', async (context) => {
  const app = await start(context, { admin_whitelist: '203.0.113.90,198.51.100.0/24' });
  const log = join(app.dataDir, 'crowdsec/log/access.log');
  const status = async () => (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;
  await until('it reads', async () => (await status()).acquisition.length > 0, WITHIN_MS);
  const time = new Date().toUTCString().replace(/^\w+, (\d+) (\w+) (\d+) (\S+) .*/, '$1/$2/$3:$4 +0000');
  for (let index = 0; index < 60; index += 1) {
    for (const ip of ['203.0.113.90', '198.51.100.7', '203.0.113.91']) {
      appendFileSync(log, `a.test ${ip} - - [${time}] "GET /x-${index}.php HTTP/1.1" 404 0 "-" "Mozilla/5.0"\n`);
    }
  }
  await until('the other one is banned', async () => (await named(app)).length > 0, WITHIN_MS);
  expect(await named(app)).toEqual(['203.0.113.91 crowdsec']);
  const { pid } = await status();
  await app.send('POST', '/security/config', { admin_whitelist: '203.0.113.92' });
  const parser = join(app.dataDir, 'crowdsec/etc/parsers/s02-enrich/sallyport-whitelist.yaml');
  await until('it is told', () => readFileSync(parser, 'utf8').includes('203.0.113.92'), WITHIN_MS);
  await until('it goes on', async () => (await status()).lapi_ready, WITHIN_MS);
  expect((await status()).pid).toBe(pid);
});

test.concurrent('a new database gets the bans of the one that was damaged', async (context) => {
  const app = await start(context);
  await cscli(app, 'add', '--ip', '198.51.100.20', '--duration', '1h');
  await until('it is known here', async () => equals(await named(app), ['198.51.100.20 crowdsec']), WITHIN_MS);
  const { pid } = (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;
  await cscli(app, 'list');
  const { wrap, view, cwd } = crowdsecAccount(join(app.dataDir, 'crowdsec'));
  const [command, line] = wrap(DEBIAN.cli, ['-c', `${view}/etc/config.yaml`, 'bouncers', 'delete', 'sallyport']);
  await run(command, line, { cwd });
  await until(
    'another one runs that knows us',
    async () => {
      const now = (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;
      return now.pid !== null && now.pid !== pid && now.lapi_ready && now.issue === null;
    },
    WITHIN_MS,
  );
  await until('it has the ban', async () => equals(await theirs(app), ['198.51.100.20 crowdsec']), WITHIN_MS);
  expect(await named(app)).toEqual(['198.51.100.20 crowdsec']);
});
