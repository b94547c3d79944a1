import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runToEnd } from './run-to-end.ts';

const run = (argv: readonly [string, ...string[]], signal = new AbortController().signal) =>
  runToEnd({ argv, env: { PATH: process.env.PATH ?? '', CODE: '7' }, signal });

test('is over when the program has ended well', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const mark = join(directory, 'mark');
  await run(['touch', mark]);
  expect(existsSync(mark)).toBe(true);
});

test('tells how a program ended otherwise, by what it was asked to do', async () => {
  await expect(run(['sh', '-c', 'exit $CODE'])).rejects.toThrow(/^-c ended with code 7$/);
  await expect(run(['false'])).rejects.toThrow(/^false ended with code 1$/);
  await expect(run(['sh', '-c', 'kill -TERM $$'])).rejects.toThrow(/^-c ended with SIGTERM$/);
});

test('tells what can not be run', async () => {
  await expect(run(['/nowhere/program'])).rejects.toThrow(/^cannot run \/nowhere\/program$/);
  await expect(run(['/nowhere/program', 'render.ts'])).rejects.toThrow(/^cannot run render\.ts$/);
});

test('ends the program when it is told to, whatever that has in mind', async () => {
  const stop = new AbortController();
  const running = run(['sh', '-c', "trap '' TERM; while :; do sleep 0.05; done"], stop.signal);
  stop.abort();
  await expect(running).rejects.toThrow(/^cannot run -c$/);
});
