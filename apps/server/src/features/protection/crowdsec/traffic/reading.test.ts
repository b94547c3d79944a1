import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { linesUnread } from './reading.ts';

/** A shell that holds the file open and has read so many bytes of it. */
const reader = async (path: string, bytes: number): Promise<number> => {
  const script = `exec 3<"${path}"; dd bs=1 count=${bytes} <&3 >/dev/null 2>&1; echo ready; while :; do sleep 0.1; done`;
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid ?? 0;
};

test('lines that a process has not read yet are counted, also those that are appended', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'access.log');
    writeFileSync(path, 'one\ntwo\nthree\nfour');
    const pid = await reader(path, 'one\n'.length);
    expect(await linesUnread(pid, path)).toBe(2);
    appendFileSync(path, '\nfive\n');
    expect(await linesUnread(pid, path)).toBe(4);
    expect(await linesUnread(await reader(path, 1_000), path)).toBe(0);
  }));

test('it can not be told of who does not hold the file, nor of who is not there', () =>
  withTemporaryDirectory(async (directory) => {
    const [path, other] = [join(directory, 'access.log'), join(directory, 'other.log')];
    for (const file of [path, other]) writeFileSync(file, 'one\n');
    const pid = await reader(other, 0);
    expect(await linesUnread(pid, path)).toBeUndefined();
    expect(await linesUnread(pid, other)).toBe(1);
    expect(await linesUnread(pid, join(directory, 'none'))).toBeUndefined();
    expect(await linesUnread(2 ** 22 + 1, path)).toBeUndefined();
  }));
