import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type {
  AuditEntry,
  CrowdsecStart,
  CrowdsecStatus,
  Decision,
  ErrorBody,
  SecurityStatus,
} from '@sallyport/contract';
import { isStillRunning, readProcess } from '@sallyport/deployment/processes';
import { pino } from 'pino';
import { expect, type TestContext, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { until } from '../../../../../../test/support/until.ts';
import { startServer } from '../../../server.ts';
import { createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';
import { crowdsecAccount } from './account.ts';
import { accessLog, prepareInstance } from './instance.ts';
import { isUp, readDecisions } from './lapi.ts';
import { startProcess } from './process.ts';
import { DEBIAN } from './program.ts';

const run = promisify(execFile);

/** The real CrowdSec of Debian: its process, its local API and its scenarios. */

const start = async ({ onTestFinished }: TestContext, port?: number): Promise<TestApp> => {
  const app = await startApp(
    'sqlite',
    { SALLYPORT_CROWDSEC_PORT: String(port ?? (await freePort())) },
    { crowdsec: DEBIAN },
  );
  onTestFinished(() => app.stop());
  return app;
};

const statusOf = async (app: TestApp): Promise<CrowdsecStatus> =>
  (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;

const startCrowdsec = async (app: TestApp): Promise<CrowdsecStart> => {
  const { status, body } = await app.send<CrowdsecStart>('POST', '/admin/crowdsec/start');
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

const bansOf = async (app: TestApp): Promise<Decision[]> =>
  (await app.send<{ decisions: Decision[] }>('GET', '/security/decisions?source=crowdsec')).body.decisions;

/** A machine that runs other tests as well takes its time. */
const WITHIN_MS = 60_000;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Lines of a web server's log in which `ip` looks for what is not there. */
const probing = (ip: string): string => {
  const now = new Date();
  const [day, time] = [String(now.getUTCDate()).padStart(2, '0'), now.toISOString().slice(11, 19)];
  const stamp = `${day}/${MONTHS[now.getUTCMonth()]}/${now.getUTCFullYear()}:${time} +0000`;
  const line = (index: number) =>
    `example.org ${ip} - - [${stamp}] "GET /missing-${index}.php HTTP/1.1" 404 0 "-" "Mozilla/5.0"\n`;
  return Array.from({ length: 15 }, (_, index) => line(index)).join('');
};

test.concurrent('starts CrowdSec as another user, bans whom its scenarios find, and ends it with the server', async (context) => {
  const app = await start(context);
  expect(await statusOf(app)).toMatchObject({ status: 'stopped', pid: null, lapi_ready: false, decisions: 0 });

  const started = await startCrowdsec(app);
  expect(started).toEqual({ status: 'started', pid: expect.any(Number), lapi_ready: true });
  expect(await startCrowdsec(app)).toEqual(started);
  const process = readProcess(started.pid);
  expect(process?.argv).toContain('/usr/bin/crowdsec');
  const credentials = statSync(join(app.dataDir, 'crowdsec/state/credentials.yaml'));
  expect(credentials.mode & 0o777).toBe(0o600);
  expect(statSync(join(app.dataDir, 'crowdsec/key')).mode & 0o777).toBe(0o600);
  const uid = /^Uid:\s+(\d+)\s+(\d+)/m.exec(readFileSync(`/proc/${started.pid}/status`, 'utf8'));
  expect(Number(uid?.[1])).toBeGreaterThan(0);
  expect(credentials.uid).toBe(Number(uid?.[2]));

  const running = await until(
    'its scenarios are loaded',
    async () => {
      const status = await statusOf(app);
      return status.acquisition.length > 0 && status.last_sync !== null ? status : undefined;
    },
    WITHIN_MS,
  );
  expect(running).toMatchObject({
    status: 'running',
    pid: started.pid,
    version: '1.4.6',
    lapi_ready: true,
    issue: null,
  });
  expect(running.acquisition).toEqual([join(app.dataDir, 'crowdsec/log/access.log')]);
  const suite = await app.send<SecurityStatus>('GET', '/security/status');
  expect(suite.body.crowdsec.running).toBe(true);

  appendFileSync(join(app.dataDir, 'crowdsec/log/access.log'), probing('203.0.113.77'));
  const [ban] = await until(
    'the scan is banned',
    async () => {
      const bans = await bansOf(app);
      return bans.length > 0 ? bans : undefined;
    },
    WITHIN_MS,
  );
  expect(ban).toMatchObject({ ip: '203.0.113.77', source: 'crowdsec', action: 'block' });
  expect(ban?.details).toBe('crowdsecurity/http-probing (crowdsec)');
  expect((await statusOf(app)).decisions).toBe(1);

  const stopped = await app.send('POST', '/admin/crowdsec/stop');
  expect(stopped).toMatchObject({ status: 200, body: { status: 'stopped' } });
  expect(process && isStillRunning(process)).toBe(false);
  expect(await statusOf(app)).toMatchObject({ status: 'stopped', pid: null, lapi_ready: false, decisions: 1 });

  const admin = await createGiven(app).administrator();
  const audit = await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, admin.headers);
  expect(audit.body.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['crowdsec.start', 'decision.import', 'crowdsec.stop']),
  );

  const again = await startCrowdsec(app);
  const second = readProcess(again.pid);
  await app.restart();
  expect(second && isStillRunning(second)).toBe(false);
  expect(await bansOf(app)).toMatchObject([{ ip: '203.0.113.77' }]);
});

test.concurrent('decisions that others make and take back are followed, and those known stay while it is down', async (context) => {
  const app = await start(context);
  const { pid } = await startCrowdsec(app);
  const account = crowdsecAccount(join(app.dataDir, 'crowdsec'));
  const decide = async (...args: string[]) => {
    const [command, line] = account.wrap(DEBIAN.cli, ['-c', `${account.view}/etc/config.yaml`, 'decisions', ...args]);
    await run(command, line, { cwd: '/' });
  };
  const banned = async () => (await bansOf(app)).map(({ ip }) => ip).sort();
  await decide('add', '--ip', '198.51.100.7', '--duration', '1h');
  await decide('add', '--range', '203.0.113.0/24', '--duration', '1h');
  const both = ['198.51.100.7', '203.0.113.0/24'];
  await until('both are ours', async () => (await banned()).length === 2, WITHIN_MS);
  expect(await banned()).toEqual(both);
  await decide('delete', '--range', '203.0.113.0/24');
  await until('one is gone', async () => (await banned()).length === 1, WITHIN_MS);
  process.kill(pid, 'SIGKILL');
  await until('it is down', async () => (await statusOf(app)).pid !== pid, WITHIN_MS);
  expect(await banned()).toEqual(['198.51.100.7']);
});

test.concurrent('starts it again when it was killed', async (context) => {
  const app = await start(context);
  const { pid } = await startCrowdsec(app);
  process.kill(pid, 'SIGKILL');
  const status = await until(
    'another one runs',
    async () => {
      const now = await statusOf(app);
      return now.pid !== null && now.pid !== pid ? now : undefined;
    },
    WITHIN_MS,
  );
  expect(status.status).toBe('running');
});

test.concurrent('starts by itself when the configuration says so, without holding up the API', async (context) => {
  const app = await start(context);
  await app.send('POST', '/security/config', { crowdsec_mode: 'local' });
  await app.restart();
  expect((await statusOf(app)).status).toBe('starting');
  // Who stops it while it starts has it stopped.
  await app.send('POST', '/admin/crowdsec/stop');
  expect(await statusOf(app)).toMatchObject({ status: 'stopped', pid: null, lapi_ready: false });
  await app.restart();
  await until('it runs', async () => (await statusOf(app)).lapi_ready, WITHIN_MS);
});

test.concurrent('the deprecated variable counts until there is a configuration, and is warned of', async ({
  onTestFinished,
}) => {
  const told: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(line) });
  const env = { SALLYPORT_CROWDSEC_MODE: 'local', SALLYPORT_CROWDSEC_PORT: String(await freePort()) };
  const app = await startApp('sqlite', env, { crowdsec: DEBIAN, log });
  onTestFinished(() => app.stop());
  expect((await statusOf(app)).status).toBe('starting');
  expect(told.filter((line) => line.includes('crowdsec_mode by POST /security/config'))).toHaveLength(1);
  await app.send('POST', '/security/config', { crowdsec_mode: 'disabled' });
  await until('it is stopped', async () => (await statusOf(app)).status === 'stopped', WITHIN_MS);
});

test.concurrent('it starts and ends as the configuration changes', async (context) => {
  const app = await start(context);
  const { pid } = await startCrowdsec(app);
  const whitelist = join(app.dataDir, 'crowdsec/etc/parsers/s02-enrich/sallyport-whitelist.yaml');
  const spares = (ip: string) =>
    until('it is told whom to spare', () => readFileSync(whitelist, 'utf8').includes(ip), WITHIN_MS);
  await app.send('POST', '/security/config', { crowdsec_mode: 'local', admin_whitelist: '203.0.113.2' });
  await spares('203.0.113.2');
  // Told after it was seen to be wanted as well: what runs already is not started once more in its own place.
  await app.send('POST', '/security/config', { admin_whitelist: '203.0.113.3' });
  await spares('203.0.113.3');
  expect((await statusOf(app)).pid).toBe(pid);
  await app.send('POST', '/security/config', { crowdsec_mode: 'disabled' });
  await until('it is stopped', async () => (await statusOf(app)).status === 'stopped', WITHIN_MS);
  const admin = await createGiven(app).administrator();
  await app.send('POST', '/settings', { key: 'security.crowdsec.enabled', value: 'true' }, admin.headers);
  await until('it runs again', async () => (await statusOf(app)).lapi_ready, WITHIN_MS);
  // Who stops it by hand has the last word.
  await app.send('POST', '/admin/crowdsec/stop');
  await app.send('POST', '/security/config', { admin_whitelist: '203.0.113.1' });
  expect((await statusOf(app)).status).toBe('stopped');
});

test.concurrent('a database that is damaged or was replaced is set aside, and it begins anew', async (context) => {
  const app = await start(context);
  const state = join(app.dataDir, 'crowdsec/state');
  await startCrowdsec(app);
  await app.send('POST', '/admin/crowdsec/stop');
  const damage = (text: string) => {
    for (const name of ['crowdsec.db-wal', 'crowdsec.db-shm']) rmSync(join(state, name), { force: true });
    writeFileSync(join(state, 'crowdsec.db'), text);
  };
  damage('no database at all '.repeat(1_000));
  expect(await startCrowdsec(app)).toMatchObject({ lapi_ready: true });
  expect(readFileSync(join(`${state}.damaged`, 'crowdsec.db'), 'utf8')).toContain('no database');
  await until('its decisions are read', async () => (await statusOf(app)).last_sync !== null, WITHIN_MS);
  const { pid, issue } = await statusOf(app);
  expect(issue).toBeNull();
  await app.send('POST', '/admin/crowdsec/stop');
  const { last_sync: before } = await statusOf(app);
  // Empty: it makes its tables, but knows nobody.
  damage('');
  await startCrowdsec(app);
  await until(
    'it is another one that knows us',
    async () => {
      const now = await statusOf(app);
      // Who does not know us lets us read nothing.
      return now.pid !== null && now.pid !== pid && now.issue === null && now.last_sync !== before;
    },
    WITHIN_MS,
  );
  expect(statSync(join(state, 'crowdsec.db')).size).toBeGreaterThan(0);
});

test.concurrent('of two nodes on one PostgreSQL one runs it, and the other says which', async ({ onTestFinished }) => {
  const ports = [await freePort(), await freePort()].map(String);
  const first = await startApp(
    'postgres',
    {
      SALLYPORT_CROWDSEC_PORT: ports[0] ?? '',
      SALLYPORT_ENCRYPTION_KEY: 'one key of both nodes 0123456789abcdef',
    },
    { crowdsec: DEBIAN },
  );
  onTestFinished(() => first.stop());
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const second = await startServer(
    { ...first.config, dataDir, crowdsecPort: Number(ports[1]) },
    pino({ level: 'silent' }),
  );
  onTestFinished(() => second.stop());
  const startSecond = () => fetch(`${second.url}/api/v1/admin/crowdsec/start`, { method: 'POST' });
  await startCrowdsec(first);
  const refused = await startSecond();
  expect(refused.status).toBe(503);
  expect(((await refused.json()) as ErrorBody).error).toContain(
    `it runs on ${hostname()} (${first.dataDir}`.slice(0, 40),
  );
  await first.send('POST', '/admin/crowdsec/stop');
  expect((await startSecond()).status).toBe(200);
});

test.concurrent('a foreign program at its port is named, not taken for CrowdSec', async (context) => {
  const port = await freePort();
  const foreign = createServer((_request, response) => response.end('{"status":"up"}'));
  await new Promise<void>((resolve) => void foreign.listen(port, '127.0.0.1', resolve));
  context.onTestFinished(() => void foreign.close());
  const app = await start(context, port);
  const { status, body } = await app.send<ErrorBody>('POST', '/admin/crowdsec/start');
  expect(status).toBe(503);
  expect(body.error).toContain(`port ${port} of 127.0.0.1 is used by another program`);
  expect(await statusOf(app)).toMatchObject({
    status: 'stopped',
    lapi_ready: false,
    issue: expect.stringContaining('port'),
  });
});

test.concurrent('root that may not mount, as in a container, gives it an account of its own as well', async () => {
  await withTemporaryDirectory(async (dataDir) => {
    const directory = join(dataDir, 'crowdsec');
    const account = crowdsecAccount(directory, process.getuid?.(), () => false);
    const instance = { directory, account, port: await freePort(), program: DEBIAN };
    const key = await prepareInstance(instance);
    const child = await startProcess(instance);
    try {
      await until('it answers', async () => child.isReading() && (await isUp(instance.port)), WITHIN_MS);
      expect(readFileSync(`/proc/${child.pid}/status`, 'utf8')).toMatch(/^CapEff:\s+0+$/m);
      expect(readlinkSync(`/proc/${child.pid}/ns/mnt`)).toBe(readlinkSync('/proc/self/ns/mnt'));
      appendFileSync(accessLog(directory), probing('203.0.113.78'));
      const decided = () => readDecisions(instance.port, key, true);
      await until('the scan is banned', async () => (await decided()).added.length > 0, WITHIN_MS);
    } finally {
      await child.stop();
      rmSync(account.state.at, { recursive: true, force: true });
    }
  });
});
