import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SIZE = 512;

/**
 * A note that survives the process, and takes no room on a full disk: its blocks are written when the service starts, and from then on
 * overwritten where they are. `name` is the process's. Throws when the file can't be made at all.
 */
export const openPendingNote = (dataDir: string, name: string) => {
  const path = join(dataDir, 'emergency', `${name}.pending`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const read = (): string => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      // None was ever made.
      return '';
    }
  };
  const left = read();
  const file = openSync(path, left === '' ? 'w' : 'r+', 0o600);
  const write = (text: string): void => {
    writeSync(file, text.slice(0, SIZE).padEnd(SIZE), 0, 'latin1');
    fsyncSync(file);
  };
  write(left);
  return {
    /** When the reset was asked for that is not stored yet; empty when there is none. */
    read,
    write,
    close: (): void => closeSync(file),
  };
};
export type PendingNote = ReturnType<typeof openPendingNote>;
