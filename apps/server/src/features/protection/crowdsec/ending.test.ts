import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStillRunning, type ProcessInfo, readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../../../test/support/until.ts';
import { endLeftBehind, endProcess, notePid } from './ending.ts';

const temporaryDirectory = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

const sleeper = async (): Promise<ProcessInfo> => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return until('it sleeps', () => {
    const found = readProcess(child.pid ?? 0);
    return found?.argv[1] === '60' ? found : undefined;
  });
};

const SLEEP = realpathSync('/bin/sleep');

test('what a killed server left behind is ended', async () => {
  const file = join(temporaryDirectory(), 'process.json');
  const found = await sleeper();
  notePid(file, found);
  expect(await endLeftBehind(file, SLEEP, '60')).toBe(true);
  expect(isStillRunning(found)).toBe(false);
  expect(await endLeftBehind(file, SLEEP, '60')).toBe(false);
});

test('another program, another configuration or a later process with its pid is left alone', async () => {
  const file = join(temporaryDirectory(), 'process.json');
  const found = await sleeper();
  notePid(file, found);
  expect(await endLeftBehind(file, '/usr/bin/crowdsec', '60')).toBe(false);
  notePid(file, found);
  expect(await endLeftBehind(file, SLEEP, '61')).toBe(false);
  notePid(file, { ...found, startTime: '1' });
  expect(await endLeftBehind(file, SLEEP, '60')).toBe(false);
  expect(isStillRunning(found)).toBe(true);
});

/** A shell that says when it is ready, and then does this. */
const shell = async (script: string): Promise<ProcessInfo> => {
  const child = spawn('sh', ['-c', `${script}; echo ready; while :; do sleep 0.1; done`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return until('it is there', () => readProcess(child.pid ?? 0));
};

test('a process ends in order, and by force only when it takes too long', async () => {
  const file = join(temporaryDirectory(), 'said');
  const polite = await shell(`trap 'echo ended > ${file}; exit' TERM`);
  await endProcess(polite);
  expect(isStillRunning(polite)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('ended\n');
  const stubborn = await shell(`trap '' TERM`);
  await endProcess(stubborn, 60);
  expect(isStillRunning(stubborn)).toBe(false);
});

test('what has ended, or is another one by now, gets no signal', async () => {
  const file = join(temporaryDirectory(), 'said');
  const found = await shell(`trap 'echo term >> ${file}' TERM; trap 'echo winch >> ${file}' WINCH`);
  await endProcess({ pid: found.pid, startTime: '1' });
  // The one with the lower number would be seen first.
  process.kill(found.pid, 'SIGWINCH');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBe('winch\n');
  await endProcess(found, 1);
  await endProcess(found);
  expect(isStillRunning(found)).toBe(false);
});

test('a note of another boot, or one that can not be read, names nobody, and is gone', async () => {
  const file = join(temporaryDirectory(), 'process.json');
  const { pid, startTime } = await sleeper();
  for (const note of [JSON.stringify({ pid, startTime, boot: 'before' }), '{', '"text"', '{}']) {
    writeFileSync(file, note);
    expect(await endLeftBehind(file, SLEEP, '60')).toBe(false);
    expect(existsSync(file)).toBe(false);
    expect(isStillRunning({ pid, startTime })).toBe(true);
  }
});

test('the note is nobody else’s', async () => {
  const file = join(temporaryDirectory(), 'process.json');
  notePid(file, await sleeper());
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await endLeftBehind(file, SLEEP, '60')).toBe(true);
  expect(existsSync(file)).toBe(false);
});
