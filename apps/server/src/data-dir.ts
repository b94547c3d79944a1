import { mkdirSync, statSync } from 'node:fs';

/** Makes the data directory, or throws when others may enter the one that is there: it holds keys. */
export const prepareDataDir = (dataDir: string): void => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if ((statSync(dataDir).mode & 0o077) !== 0)
    throw new Error(`${dataDir} is open to others; run: chmod 700 ${dataDir}`);
};
