import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { isStillRunning, listProcesses, readEnvironment, readProcess } from './processes.ts';

const startSleep = (program = 'sleep') => {
  const child = spawn(program, ['60'], { env: { PATH: process.env.PATH, ANSWER: 'a=b' } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};

test('reads a process whose name looks like other fields of /proc/PID/stat', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-proc-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const program = join(dir, 'x) Z 1 (y');
  copyFileSync('/bin/sleep', program);
  const child = startSleep(program);
  await once(child, 'spawn');
  const info = await until('the program runs', () => {
    const found = readProcess(child.pid!);
    return found?.argv[0] === program ? found : undefined;
  });
  expect(info).toMatchObject({ pid: child.pid, parentPid: process.pid, argv: [program, '60'] });
  expect(listProcesses()).toContainEqual(info);
});

test('tells the environment a process was started with', async () => {
  const child = startSleep();
  const environment = await until('the program runs', () =>
    readProcess(child.pid!)?.argv[0] === 'sleep' ? readEnvironment(child.pid!) : undefined,
  );
  expect(environment.get('ANSWER')).toBe('a=b');
});

test('knows a process only as long as it runs, and not another start time', async () => {
  const child = startSleep();
  await once(child, 'spawn');
  const info = readProcess(child.pid!)!;
  expect(isStillRunning(info)).toBe(true);
  expect(isStillRunning({ pid: info.pid, startTime: `${info.startTime}0` })).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isStillRunning(info)).toBe(false);
  expect(readProcess(info.pid)).toBeUndefined();
});
