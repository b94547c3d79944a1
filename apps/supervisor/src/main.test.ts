import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { freePorts } from '../../../test/support/free-ports.ts';
import { takeInstanceLock } from './instance-lock.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

// Of a supervisor that never gets to listen on them.
const [api, http, https] = await freePorts(3);

const givenDataDir = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-main-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
};

/** Starts the supervisor with settings that must stop it, and returns how it ended. */
const refusedStart = (dataDir: string, settings: Readonly<Record<string, string>>, ...flags: string[]) => {
  const env = {
    ...bareEnvironment,
    SALLYPORT_DATA_DIR: dataDir,
    SALLYPORT_HTTP_BIND: `127.0.0.1:${api}`,
    SALLYPORT_PROXY_HTTP: `127.0.0.1:${http}`,
    SALLYPORT_PROXY_HTTPS: `127.0.0.1:${https}`,
    ...settings,
  };
  const { status, stderr } = spawnSync(process.execPath, [main, ...flags], { env, encoding: 'utf8' });
  return { status, lines: stderr.trimEnd().split('\n') };
};

const givenTakenPort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return `127.0.0.1:${address.port}`;
};

test('names every setting that is wrong, one line each, and does not start', () => {
  const { status, lines } = refusedStart(givenDataDir(), { SALLYPORT_NONSENSE: '1', SALLYPORT_HTTP_BIND: '8080' });
  expect(status).toBe(1);
  expect(lines).toEqual([
    expect.stringContaining('SALLYPORT_HTTP_BIND'),
    expect.stringContaining('SALLYPORT_NONSENSE'),
  ]);
});

test('reads .env in the data directory, and lets the command line win', () => {
  const dataDir = givenDataDir();
  writeFileSync(join(dataDir, '.env'), 'SALLYPORT_API_AUTH=nobody\n');
  expect(refusedStart(dataDir, {}).lines).toEqual([expect.stringContaining('SALLYPORT_API_AUTH')]);
  chmodSync(dataDir, 0o755);
  expect(refusedStart(dataDir, {}, '--api-auth=required').lines).toEqual([
    `sallyport: SALLYPORT_DATA_DIR: ${dataDir} is open to other users: chmod 700 ${dataDir}`,
  ]);
});

test('refuses a data directory that another supervisor runs on, and names it', () => {
  const dataDir = givenDataDir();
  takeInstanceLock(join(dataDir, 'supervisor.lock'));
  expect(refusedStart(dataDir, {})).toEqual({
    status: 1,
    lines: [`sallyport: process ${process.pid} already runs Sallyport on ${dataDir}; stop it first`],
  });
});

test.each(['SALLYPORT_HTTP_BIND', 'SALLYPORT_PROXY_HTTP', 'SALLYPORT_PROXY_HTTPS'])(
  'names %s when its address is taken',
  async (variable) => {
    const address = await givenTakenPort();
    expect(refusedStart(givenDataDir(), { [variable]: address })).toEqual({
      status: 1,
      lines: [`sallyport: ${variable}: ${address} can't be bound (another program listens there)`],
    });
  },
);

test('refuses one address for both listeners of the data plane', () => {
  const { status, lines } = refusedStart(givenDataDir(), { SALLYPORT_PROXY_HTTPS: `127.0.0.1:${http}` });
  expect({ status, lines }).toEqual({
    status: 1,
    lines: ['sallyport: SALLYPORT_PROXY_HTTPS is the same as SALLYPORT_PROXY_HTTP'],
  });
});
