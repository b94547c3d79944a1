import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../../../test/support/until.ts';
import { type ProgramCall, startProgram } from './run-program.ts';

const shell = (script: string, more: Partial<ProgramCall> = {}) =>
  startProgram({ path: '/bin/sh', args: ['-c', script], env: {}, cwd: '/', limitMs: 60_000, ...more });

const PATH = { PATH: '/usr/bin:/bin' };

const givenDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-program-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

test('a program gets its input and nothing of our environment; both of its outputs and its code are told', async () => {
  process.env.SALLYPORT_TEST_ONLY = 'not for programs';
  onTestFinished(() => {
    delete process.env.SALLYPORT_TEST_ONLY;
  });
  const script = 'read word; echo "out $word $GIVEN$SALLYPORT_TEST_ONLY"; /bin/pwd; echo err >&2; exit 3';
  const { ended } = await shell(script, { input: 'input\n', env: { GIVEN: 'given' }, cwd: '/usr' });
  const { output, ...end } = await ended;
  expect(end).toEqual({ code: 3, signal: null, isTimeout: false });
  expect(
    output
      .split('\n')
      .filter((line) => line !== '')
      .sort(),
  ).toEqual(['/usr', 'err', 'out input given']);
  expect(await (await shell('read word || echo nothing')).ended).toMatchObject({ code: 0, output: 'nothing\n' });
});

test('what a program says goes to a file that nobody else reads, and that was not there', async () => {
  const outputFile = join(givenDirectory(), 'output');
  const { ended } = await shell('echo out; echo err >&2', { outputFile });
  expect((await ended).output).toBe('out\nerr\n');
  expect(readFileSync(outputFile, 'utf8')).toBe('out\nerr\n');
  expect(statSync(outputFile).mode & 0o777).toBe(0o600);
  await expect(shell('echo again', { outputFile })).rejects.toThrow('EEXIST');
});

test.each(['pipe', 'file'])('of a program that says much the end is kept, by %s', async (how) => {
  const outputFile = join(givenDirectory(), 'output');
  const script = 'i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo "line $i of it"; done';
  const { output } = await (await shell(script, how === 'file' ? { outputFile } : {})).ended;
  expect(output).toHaveLength(32_768);
  expect(output.endsWith('line 4999 of it\nline 5000 of it\n')).toBe(true);
});

test('a program that takes too long is ended', async () => {
  const { ended } = await shell('sleep 60', { limitMs: 50 });
  expect(await ended).toMatchObject({ code: null, signal: 'SIGKILL', isTimeout: true });
});

test('one is ended with all that it has started when it is told to, which is no lack of time', async () => {
  const file = join(givenDirectory(), 'child');
  const { ended, kill } = await shell(`sleep 60 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`, { env: PATH });
  await until('it runs', () => existsSync(file));
  const child = Number(readFileSync(file, 'utf8'));
  await until('its child runs', () => readProcess(child)?.argv[0] === 'sleep');
  kill();
  expect(await ended).toMatchObject({ code: null, signal: 'SIGKILL', isTimeout: false });
  await until('its child is gone', () => readProcess(child) === undefined);
  // Afterwards it does nothing.
  expect(kill).not.toThrow();
});

test('a program that does not read what it is given has just ended', async () => {
  const { ended } = await shell('exit 0', { input: 'x'.repeat(1_000_000) });
  expect(await ended).toMatchObject({ code: 0, isTimeout: false });
});

test('what can not be started is told with its path', async () => {
  const directory = givenDirectory();
  const file = join(directory, 'no-program');
  writeFileSync(file, 'text', { mode: 0o600 });
  const outputFile = join(directory, 'output');
  const call = { args: [], env: {}, cwd: '/', limitMs: 60_000, outputFile };
  await expect(startProgram({ ...call, path: file })).rejects.toThrow(`${file} can't be started: spawn`);
  rmSync(outputFile);
  await expect(startProgram({ ...call, path: 'with\0nothing' })).rejects.toThrow("with\0nothing can't be started: ");
});
