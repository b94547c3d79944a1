import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** What all of a whole run that lies there has together, several times: 0.5 GB. */
const ROOM = 4 * 1024 ** 3;
/** Short: names of sockets lie below it, and have 107 bytes. */
const PREFIX = 'sp-test-';

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
  // Of runs that were killed.
  for (const left of readdirSync(memory).filter((name) => name.startsWith(PREFIX))) {
    if (!existsSync(`/proc/${left.slice(PREFIX.length)}`)) rmSync(join(memory, left), { recursive: true, force: true });
  }
  const directory = join(memory, `${PREFIX}${process.pid}`);
  mkdirSync(directory, { recursive: true });
  // As /tmp: other accounts than ours have files there, too.
  chmodSync(directory, 0o1777);
  process.env.TMPDIR = directory;
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
};
