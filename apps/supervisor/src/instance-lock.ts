import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

export type InstanceLock = { state: 'held'; release(): void } | { state: 'taken'; pid: string };

/**
 * Takes the lock of a data directory, or tells who has it. The kernel drops it when we die, however that happens.
 * Node has no flock(2), but the lock belongs to the open file, which the flock program inherits from us and leaves locked.
 * Children don't inherit it (Node opens files close-on-exec). Throws when the file or the program can't be opened.
 */
export const takeInstanceLock = (path: string): InstanceLock => {
  const file = openSync(path, 'a+', 0o600);
  const { status, error } = spawnSync('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', file] });
  if (status === 0) {
    try {
      ftruncateSync(file);
      writeSync(file, `${process.pid}\n`);
    } catch {
      // A full disk: the lock holds all the same, only the next one who wants it can't be told who has it.
    }
    return { state: 'held', release: () => closeSync(file) };
  }
  closeSync(file);
  if (status === 1) return { state: 'taken', pid: readFileSync(path, 'utf8').trim() };
  throw new Error('cannot run flock (Debian package util-linux)', { cause: error });
};
