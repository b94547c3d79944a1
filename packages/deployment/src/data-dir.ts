import { chownSync, mkdirSync, statSync } from 'node:fs';
import { ConfigError } from './config.ts';

/** Makes the data directory. Throws a `ConfigError` when others may enter the one that is there: it holds keys. */
export const prepareDataDir = (dataDir: string): void => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if ((statSync(dataDir).mode & 0o077) === 0) return;
  throw new ConfigError([`${dataDir} is open to others; run: chmod 700 ${dataDir}`]);
};

/**
 * Hands a file over to the owner of the data directory, when it was root who made it: the service, which runs as that
 * user, must be able to read what an administrator's command left there.
 */
export const handOver = (path: string, dataDir: string): void => {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  const made = statSync(path);
  if (made.uid === 0 && uid !== 0) chownSync(path, uid, gid);
};
