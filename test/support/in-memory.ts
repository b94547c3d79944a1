import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** What all of a whole run that lies there has together, several times: 0.5 GB. */
const ROOM = 4 * 1024 ** 3;
/** Short: names of sockets lie below it, and have 107 bytes. */
const PREFIX = 'sp-test-';

/** Removes a directory once whoever holds the other end of its input is gone. */
const WATCH = `while read -r line; do :; done
rm -rf "$1"`;

const isExecutable = (): boolean =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .some(([, place, , options = '']) => place === IN_MEMORY && !options.split(',').includes('noexec'));

/** A directory of the machine's whose files lie in its memory; none where that has little room or lets nothing be run. */
export const memoryDirectory = (): string | undefined => {
  if (!existsSync(IN_MEMORY) || !isExecutable()) return undefined;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize >= ROOM ? IN_MEMORY : undefined;
};

/**
 * Has this process and those that it starts keep temporary files in memory, where there is room. A server within a test makes and removes
 * two dozen files, half of them synced, which takes a third of its start's processor time on ext4, and the journal's threads besides.
 */
export const keepTemporaryFilesInMemory = (): void => {
  const memory = memoryDirectory();
  if (process.env.TMPDIR !== undefined || memory === undefined) return;
  const directory = mkdtempSync(join(memory, PREFIX));
  // As /tmp: other accounts than ours have files there, too.
  chmodSync(directory, 0o1777);
  process.env.TMPDIR = directory;
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // A run that is killed removes nothing, but the kernel closes its pipe. No look at process ids can tell: another run may have its own.
  const watch = spawn('sh', ['-c', WATCH, 'watch', directory], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watch.unref();
  (watch.stdin as Socket).unref();
};
