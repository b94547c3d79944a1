import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { flawOfDataDir } from '@sallyport/deployment/flaw-of-data-dir';

/**
 * Makes the data directory (0700) when there is none, and returns its real path.
 * Throws an `Error` for the operator when it can't be used: it holds private keys, so others must not even look in.
 */
export const openDataDir = (path: string): string => {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(`SALLYPORT_DATA_DIR: cannot make ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
  const real = realpathSync(path);
  // The configuration was checked as it is written; where a symbolic link leads shows only now.
  const flaw = flawOfDataDir(real);
  if (flaw !== undefined) throw new Error(`SALLYPORT_DATA_DIR ${flaw}: ${JSON.stringify(real)}`);
  const { mode, uid } = statSync(real);
  if (uid !== process.getuid?.()) throw new Error(`SALLYPORT_DATA_DIR: ${real} belongs to another user`);
  if ((mode & 0o077) !== 0) throw new Error(`SALLYPORT_DATA_DIR: ${real} is open to other users: chmod 700 ${real}`);
  try {
    accessSync(real, constants.W_OK);
  } catch (cause) {
    throw new Error(`SALLYPORT_DATA_DIR: ${real} can't be written to (${(cause as NodeJS.ErrnoException).code})`, {
      cause,
    });
  }
  return real;
};
