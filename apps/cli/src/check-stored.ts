import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Config } from '@sallyport/deployment/config';
import { CommandFailure } from './failure.ts';

const PROGRAM = fileURLToPath(new URL('../../server/src/check/main.ts', import.meta.url));

/**
 * Has the server's own rules look at a store that is not in use yet, in a process of its own. Throws a `CommandFailure` that names
 * the first thing that could not have been configured here.
 */
export const checkStored = async (
  { dataDir, encryptionKey }: Pick<Config, 'dataDir' | 'encryptionKey'>,
  directory: string,
): Promise<void> => {
  const key = encryptionKey === undefined ? {} : { SALLYPORT_ENCRYPTION_KEY: encryptionKey };
  const child = spawn(process.execPath, [PROGRAM, directory], {
    env: { ...process.env, SALLYPORT_DATA_DIR: dataDir, ...key },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  const [end, said] = await Promise.all([ended, text(child.stderr)]);
  if (end !== 0) throw new CommandFailure(said.trim() || `what looks at the backup ended with ${end}`);
};
