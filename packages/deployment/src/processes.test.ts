import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { isStillRunning, listChildren, listProcesses, readBootId, readEnvironment, readProcess } from './processes.ts';

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
  expect(listProcesses((argv) => argv[0] === program)).toEqual([info]);
  expect(listProcesses((argv) => argv.includes(program) && argv.length === 1)).toEqual([]);
});

test('tells the children of a process, whichever of its threads has started them, and not theirs', async () => {
  const script = `
    const { spawn } = require('node:child_process');
    const { isMainThread, Worker } = require('node:worker_threads');
    spawn('sh', ['-c', 'sleep 60 & wait'], { stdio: 'ignore' });
    if (isMainThread) new Worker(__filename);
    setInterval(() => {}, 1_000);`;
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-proc-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'parent.cjs');
  writeFileSync(file, script);
  const parent = spawn(process.execPath, [file], { detached: true });
  await once(parent, 'spawn');
  onTestFinished(() => void process.kill(-parent.pid!, 'SIGKILL'));
  const areShells = (argvs: readonly (readonly string[])[]) =>
    argvs.length === 2 && argvs.every(([program]) => program === 'sh');
  const children = await until('both run', () => {
    const found = listChildren(parent.pid!);
    return areShells(found.map(({ argv }) => argv)) && found;
  });
  expect(children.map(({ parentPid }) => parentPid)).toEqual([parent.pid, parent.pid]);
  const [first] = children;
  await until('it has a child of its own', () => listChildren(first!.pid).length === 1);
  expect(listChildren(parent.pid!).map(({ pid }) => pid)).toEqual(children.map(({ pid }) => pid));
  expect(listChildren(2 ** 22 + 1)).toEqual([]);
});

test('one that has ended lives no more, though nobody has asked how', () => {
  const { pid = 0 } = spawn('true', { stdio: 'ignore' });
  // Nobody asks as long as this test does not give way: a shell in between may, and then there is nothing left of it.
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (!/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) Atomics.wait(pause, 0, 0, 1);
  expect(readProcess(pid)).toBeUndefined();
  expect(listProcesses().map((found) => found.pid)).not.toContain(pid);
});

test('tells the environment a process was started with', async () => {
  const child = startSleep();
  const environment = await until('the program runs', () =>
    readProcess(child.pid!)?.argv[0] === 'sleep' ? readEnvironment(child.pid!) : undefined,
  );
  expect([...environment].toSorted()).toEqual([
    ['ANSWER', 'a=b'],
    ['PATH', process.env.PATH],
  ]);
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
  expect(readEnvironment(info.pid)).toBeUndefined();
});

test('each boot has a name of its own', () => {
  expect(readBootId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
