import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultGuards } from '@sallyport/deployment/places';
import { listProcesses } from '@sallyport/deployment/processes';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.ts';
import { freePorts } from '../support/free-ports.ts';
import { until } from '../support/until.ts';

const main = fileURLToPath(new URL('../../apps/supervisor/src/main.ts', import.meta.url));

let ports: { api: number; http: number; https: number };

beforeEach(async () => {
  const [api = 0, http = 0, https = 0] = await freePorts(3);
  ports = { api, http, https };
});

/** Starts the product with its output in pipes. */
const start = (settings: Readonly<Record<string, string>> = {}) => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-output-'));
  const dataDir = join(dir, 'data');
  const child = spawn(process.execPath, [main], {
    env: {
      ...bareEnvironment,
      SALLYPORT_DATA_DIR: dataDir,
      SALLYPORT_HTTP_BIND: `127.0.0.1:${ports.api}`,
      SALLYPORT_PROXY_HTTP: `127.0.0.1:${ports.http}`,
      SALLYPORT_PROXY_HTTPS: `127.0.0.1:${ports.https}`,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  // The server's command line does not name the data directory, so that it is found by its parent.
  const descendants = () =>
    listProcesses().filter(
      ({ parentPid, argv }) => parentPid === child.pid || argv.some((arg) => arg.includes(dataDir)),
    );
  onTestFinished(async () => {
    const left = descendants();
    child.kill('SIGKILL');
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    await until('nothing of it is left', () => descendants().length === 0);
    rmSync(dir, { recursive: true });
  });
  return {
    output,
    descendants,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      return (await ended)[0] as number | null;
    },
    closeOutput: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
};

const isHealthy = () =>
  fetch(`http://127.0.0.1:${ports.api}/api/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  );

test('tells who starts it where everything is and how to make an administrator, and then what matters', async () => {
  const { output, stop } = start();
  await until('it is ready', () => output.stdout.includes('Ready after'), 30_000);
  expect(output.stdout).toMatch(/"setup_token": "[0-9a-f]{32}"/);
  expect(output.stdout).toContain(`  API    http://127.0.0.1:${ports.api}/api/v1`);
  expect(output.stdout).toContain(`  Proxy  HTTP on 127.0.0.1:${ports.http}, HTTPS on 127.0.0.1:${ports.https}`);
  expect(output.stdout).not.toContain('{"level"');
  expect(await stop()).toBe(0);
  expect(output.stdout.endsWith('\nStopping …\nStopped.\n')).toBe(true);
  expect(output.stderr).toBe('');
});

test('writes one JSON object a line when asked to, and the setup token elsewhere', async () => {
  const { output, stop } = start({ SALLYPORT_LOG_FORMAT: 'json', SALLYPORT_LOG_LEVEL: 'debug' });
  await until('it is ready', () => /"proxy":.*"msg":"ready"/.test(output.stdout), 30_000);
  expect(await stop()).toBe(0);
  const lines = output.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(lines.map(({ name, child }) => child ?? name))).toEqual(
    new Set(['supervisor', 'haproxy', 'server', ...Array.from({ length: defaultGuards() }, (_, i) => `guard-${i}`)]),
  );
  const token = /"setup_token": "([0-9a-f]{32})"/.exec(output.stderr)?.[1] ?? 'none';
  expect(token).not.toBe('none');
  expect(output.stdout).not.toContain(token);
});

test('goes on when nobody reads its output any more, and stops as ever', async () => {
  const { output, closeOutput, descendants, stop } = start({ SALLYPORT_LOG_LEVEL: 'debug' });
  await until('it is ready', () => output.stdout.includes('Ready after'), 30_000);
  const before = descendants().map(({ pid }) => pid);
  closeOutput();
  const guard = descendants().find(({ argv }) => argv.some((arg) => arg.endsWith('guard/src/main.ts')));
  if (!guard) throw new Error('no guard');
  process.kill(guard.pid, 'SIGKILL');
  // The supervisor has had something to write by then.
  await until('another guard is there', () =>
    descendants().some(
      ({ pid, argv }) => !before.includes(pid) && argv.some((arg) => arg.endsWith('guard/src/main.ts')),
    ),
  );
  expect(await isHealthy()).toBe(true);
  expect(await stop()).toBe(0);
  expect(descendants()).toEqual([]);
});
