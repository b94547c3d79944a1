import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { descendsFrom, readProcesses } from './processes.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

const startedBy = (ancestor: number): number[] => {
  const processes = readProcesses();
  return [...processes.keys()].filter((pid) => descendsFrom(processes, pid, ancestor));
};

const copiesIn = (temporary: string): string[] => readdirSync(temporary).filter((name) => name.startsWith('mu-'));

// npm passes SIGTERM on, but not SIGHUP: that a terminal sends to all, and npm is gone before the run is.
test.each<[NodeJS.Signals, string, sign: 1 | -1, [number | null, NodeJS.Signals | null]]>([
  ['SIGTERM', 'npm', 1, [143, null]],
  ['SIGHUP', 'all of them', -1, [null, 'SIGHUP']],
])('%s to %s ends a run, what it has started, and its copy of the repository', async (signal, _whom, sign, end) => {
  const temporary = mkdtempSync(join(tmpdir(), 'sallyport-mutate-'));
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }));
  const npm = spawn('npm', ['run', 'mutate', 'packages/caddyfile/src', '--', '--only', 'packages/caddyfile'], {
    cwd: repository,
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, TMPDIR: temporary },
  });
  const ended = once(npm, 'exit');
  let started: readonly number[] = [];
  onTestFinished(() => {
    const left = readProcesses();
    for (const pid of [npm.pid!, ...started].filter((each) => left.has(each))) process.kill(pid, 'SIGKILL');
  });
  // The run, and the process of the tests in its namespace, where the machine allows one.
  await expect
    .poll(() => {
      started = startedBy(npm.pid!);
      return started.length;
    })
    .toBeGreaterThanOrEqual(process.getuid?.() === 0 ? 4 : 2);
  expect(copiesIn(temporary)).toHaveLength(1);
  process.kill(sign * npm.pid!, signal);
  expect(await ended).toEqual(end);
  await expect.poll(() => started.filter((pid) => readProcesses().has(pid))).toEqual([]);
  expect(copiesIn(temporary)).toEqual([]);
});
