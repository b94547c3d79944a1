import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeInstanceLock } from './instance-lock.ts';

const lockFile = () => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-lock-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return join(dir, 'supervisor.lock');
};

const holdElsewhere = async (path: string) => {
  const module = new URL('./instance-lock.ts', import.meta.url).href;
  const script = `import { takeInstanceLock } from '${module}'; import { spawn } from 'node:child_process';
    takeInstanceLock(process.argv[1]); const child = spawn('sleep', ['60'], { detached: true });
    console.log(child.pid); setInterval(() => 0, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [childPid] = await once(holder.stdout, 'data');
  onTestFinished(() => {
    holder.kill('SIGKILL');
    process.kill(Number(childPid), 'SIGKILL');
  });
  return holder;
};

test('is held by one process at a time, and names it', async () => {
  const path = lockFile();
  const holder = await holdElsewhere(path);
  expect(takeInstanceLock(path)).toEqual({ state: 'taken', pid: String(holder.pid) });
});

test('is free again when its holder was killed, though a child of it lives on', async () => {
  const path = lockFile();
  const holder = await holdElsewhere(path);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(takeInstanceLock(path)).toMatchObject({ state: 'held' });
});

test('is free again after its release', () => {
  const path = lockFile();
  const first = takeInstanceLock(path);
  expect(takeInstanceLock(path)).toEqual({ state: 'taken', pid: String(process.pid) });
  if (first.state === 'held') first.release();
  expect(takeInstanceLock(path)).toMatchObject({ state: 'held' });
});

test('is held on a full disk, too', () => {
  const path = lockFile();
  // Opens and locks like any file, and takes no byte.
  symlinkSync('/dev/full', path);
  const lock = takeInstanceLock(path);
  expect(lock.state).toBe('held');
  if (lock.state === 'held') lock.release();
});
