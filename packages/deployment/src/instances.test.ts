import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { findInstances } from './instances.ts';

test('finds what an older version runs with: an empty value that protects, a setting that is none any more', async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-older-')));
  // Of an older version nothing but its process is looked at.
  const main = join(dir, 'apps/supervisor/src/main.ts');
  mkdirSync(dirname(main), { recursive: true });
  writeFileSync(main, 'setInterval(() => {}, 1_000);');
  const SALLYPORT_DATA_DIR = join(dir, 'data');
  const empty = { SALLYPORT_API_AUTH: '', SALLYPORT_MANAGEMENT_CIDRS: '', SALLYPORT_ENCRYPTION_KEY: '' };
  const child = spawn(process.execPath, [main, '--http-bind=127.0.0.1:9'], {
    env: { PATH: process.env.PATH, SALLYPORT_DATA_DIR, SALLYPORT_OF_BEFORE: 'x', ...empty },
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true });
  });
  const found = await until('it is found', () => findInstances().find(({ pid }) => pid === child.pid));
  expect(found.config).toMatchObject({
    dataDir: SALLYPORT_DATA_DIR,
    httpBind: { host: '127.0.0.1', port: 9 },
    apiAuth: 'local',
  });
});
