import { ArchiveError } from '../format/archive-error.ts';
import { type Archive, openArchive, readThrough } from '../format/open-archive.ts';
import { KNOWN_PARTS } from './make-backup.ts';

/** Opens a backup of which every part has been read once; to be closed. Throws an `ArchiveError` that says what is wrong with it. */
export const openVerified = async (path: string, passphrase: string | undefined): Promise<Archive> => {
  const archive = await openArchive(path, { known: KNOWN_PARTS, passphrase });
  try {
    await readThrough(archive);
    return archive;
  } catch (error) {
    await archive.close();
    throw error;
  }
};

/** Reads all of a backup; resolves to what is wrong with it, in words. */
export const problemsOf = async (path: string, passphrase: string | undefined): Promise<string[]> => {
  try {
    await (await openVerified(path, passphrase)).close();
    return [];
  } catch (error) {
    if (error instanceof ArchiveError) return [error.message];
    throw error;
  }
};
