import { writeFileSync } from 'node:fs';
import { CommandFailure } from './failure.ts';

/** Writes a text to a new file, or to standard output where none is named. Throws a `CommandFailure`, as for a file that is there already. */
export const writeText = (text: string, path: string | undefined): void => {
  if (path === undefined) {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFailure(code === 'EEXIST' ? `${path} is there already: remove it, or name another file` : message);
  }
};
