import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { listProcesses, readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { readActivity } from './activity.ts';
import { spawnProcess } from './running-process.ts';

const start = async (script: string) => {
  const argv = ['sh', '-c', script] as const;
  const child = await spawnProcess({ argv, env: { PATH: process.env.PATH ?? '' }, onOutput: () => undefined });
  onTestFinished(() => child.killGroup());
  return child.pid;
};

test('a process that waits does nothing', async () => {
  const pid = await start('exec sleep 60');
  await until('it sleeps', () => readProcess(pid)?.argv[0] === 'sleep' && !readActivity(pid).isRunnable);
  const { usedMs, ...rest } = readActivity(pid);
  expect(rest).toEqual({ isStopped: false, isRunnable: false });
  expect(usedMs).toBeLessThan(1_000);
});

test('one that computes is runnable and uses processor time, in milliseconds', async () => {
  const pid = await start('while :; do :; done');
  const startedAt = performance.now();
  await until('it has used some time', () => readActivity(pid).usedMs >= 200);
  expect(readActivity(pid).isRunnable).toBe(true);
  // It has one thread, and was started before we looked at the clock.
  expect(readActivity(pid).usedMs).toBeLessThan(performance.now() - startedAt + 1_000);
});

test('time in the kernel counts as time of its own does', async () => {
  const output = Promise.withResolvers<Readable>();
  // Opens files without end; now and then `times` tells the shell's own time, of the user and of the system.
  const argv = ['sh', '-c', 'while :; do for i in $(seq 2000); do : </dev/null; done; times; done'] as const;
  const env = { PATH: process.env.PATH ?? '' };
  const child = await spawnProcess({
    argv,
    env,
    onOutput: (stream, from) => from === 'stdout' && output.resolve(stream),
  });
  onTestFinished(() => child.killGroup());
  for await (const line of createInterface(await output.promise)) {
    const [user = 0, system = 0] = Array.from(line.matchAll(/(\d+)m([\d.]+)s/g), ([, minutes, seconds]) =>
      Math.round(1_000 * (60 * Number(minutes) + Number(seconds))),
    );
    // Less would be within what is rounded: to a tick each.
    if (system < 100) continue;
    expect(readActivity(child.pid).usedMs).toBeGreaterThan(user + system - 30);
    return;
  }
});

test('what its children do counts as well, and nobody else', async () => {
  const pid = await start('sleep 60 & kill -STOP $!; wait');
  await until('its child is stopped', () => readActivity(pid).isStopped);
  const child = listProcesses().find(({ parentPid }) => parentPid === pid)!;
  process.kill(child.pid, 'SIGCONT');
  await until('it goes on', () => !readActivity(pid).isStopped);
  const busy = await start('while :; do :; done');
  await until('another one computes', () => readActivity(busy).usedMs >= 200);
  await until('both wait', () => !readActivity(pid).isRunnable);
  expect(readActivity(pid).usedMs).toBeLessThan(200);
});

test('one that is gone does nothing', () => {
  expect(readActivity(2 ** 22 + 1)).toEqual({ isStopped: false, isRunnable: false, usedMs: 0 });
});
