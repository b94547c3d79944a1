import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseConfig } from '@sallyport/deployment/config';
import type { Instance } from '@sallyport/deployment/instances';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { chooseInstance } from './instances.ts';

let port = 0;
beforeAll(async () => {
  port = await freePort();
});

/** `sallyport ARGUMENTS` in a directory and an environment that know nothing of any deployment. */
const sallyport = async (...args: string[]) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    cwd: tmpdir(),
    env: bareEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, out, err };
};

test('the status finds a running server by its data directory, though its settings came from its command line', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
  const main = join(import.meta.dirname, '../../server/src/main.ts');
  const server = spawn(process.execPath, [main, `--http-bind=127.0.0.1:${port}`, '--data-dir', dataDir], {
    env: bareEnvironment,
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
    rmSync(dataDir, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/api/v1/health`).catch(() => undefined))?.ok;
  await vi.waitFor(async () => expect(await isUp()).toBe(true), { timeout: 60_000, interval: 100 });
  const { code, out, err } = await sallyport('status', '--data-dir', dataDir);
  expect(out).toContain(`Sallyport: process ${server.pid}, with its data in ${dataDir}\n`);
  expect(out).toContain(`server: answering at ${url}\n`);
  // No HAProxy runs beside it.
  expect({ code, err }).toEqual({ code: 3, err: 'sallyport: proxy: not answering\n' });

  // A store that is away hides nothing else.
  rmSync(join(dataDir, 'sallyport.db'));
  const without = await sallyport('status', '--data-dir', dataDir);
  expect(without.out).toContain(`store: not answering: ${dataDir} holds no store`);
  expect(without.out).toContain(`server: answering at ${url}\n`);
  expect(without.code).toBe(3);
});

const instance = (dataDir: string): Instance => ({
  pid: 1,
  config: parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/'),
});

test('the only instance is meant when none is named; among several, the one on ./data', () => {
  const [a, b] = [instance('/srv/a'), instance('/srv/b')];
  expect(chooseInstance([], { named: false, dataDir: '/home/data' })).toBeUndefined();
  expect(chooseInstance([a], { named: false, dataDir: '/home/data' })).toBe(a);
  expect(chooseInstance([a], { named: true, dataDir: '/home/data' })).toBeUndefined();
  expect(chooseInstance([a, b], { named: false, dataDir: '/srv/b' })).toBe(b);
  expect(() => chooseInstance([a, b], { named: false, dataDir: '/home/data' })).toThrow(
    'several run here; name one with --data-dir: /srv/a, /srv/b',
  );
});

test('prints its version', async () => {
  expect(await sallyport('--version')).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: '' });
});
