import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStillRunning, type ProcessInfo, readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../../../test/support/until.ts';
import { endLeftBehind, notePid } from './ending.ts';

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
