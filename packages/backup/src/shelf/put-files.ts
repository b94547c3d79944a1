import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ownCountryDatabase } from '@sallyport/access/country-database';
import { handOver } from '@sallyport/deployment/data-dir';
import type { Archive } from '../format/open-archive.ts';
import { COUNTRY_FILE } from './make-backup.ts';

/**
 * Puts the files of a backup into a data directory that lacks them; one that is there is newer, and stays. Returns the names of
 * those that were put there: processes that run learn of them at their next start.
 */
export const putFiles = async (archive: Pick<Archive, 'files'>, dataDir: string): Promise<string[]> => {
  const put: string[] = [];
  for (const { name, content } of archive.files()) {
    const path = ownCountryDatabase(dataDir);
    if (name !== COUNTRY_FILE || existsSync(path)) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.part`;
    try {
      await pipeline(Readable.from(content), createWriteStream(draft, { mode: 0o600, flush: true }));
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    handOver(dirname(path), dataDir);
    handOver(path, dataDir);
    put.push(name);
  }
  return put;
};
