import { ArchiveError, WrongPassphrase } from '../format/archive-error.ts';
import { type Archive, openArchive, readHeader, readThrough } from '../format/open-archive.ts';
import { KNOWN_PARTS } from './make-backup.ts';

/** Tells the passphrase to be tried with an encrypted backup when none is given. */
export type Stored = () => Promise<string | undefined>;

const nothing: Stored = async () => undefined;

const openWith = async (path: string, given: string | undefined, stored: Stored): Promise<Archive> => {
  if (given !== undefined) return openArchive(path, { known: KNOWN_PARTS, passphrase: given });
  const { encryption } = await readHeader(path);
  const passphrase = encryption === null ? undefined : await stored();
  return openArchive(path, { known: KNOWN_PARTS, passphrase }).catch((error: unknown) => {
    if (!(error instanceof WrongPassphrase)) throw error;
    throw new ArchiveError(
      'the backup was made with another passphrase than backup.passphrase holds now, or its first lines are damaged: give that passphrase',
    );
  });
};

/** Opens a backup of which every part has been read once; to be closed. Throws an `ArchiveError` that says what is wrong with it. */
export const openVerified = async (path: string, given: string | undefined, stored = nothing): Promise<Archive> => {
  const archive = await openWith(path, given, stored);
  try {
    await readThrough(archive);
    return archive;
  } catch (error) {
    await archive.close();
    throw error;
  }
};

/** Reads all of a backup; resolves to what is wrong with it, in words. */
export const problemsOf = async (path: string, given: string | undefined, stored = nothing): Promise<string[]> => {
  try {
    await (await openVerified(path, given, stored)).close();
    return [];
  } catch (error) {
    if (error instanceof ArchiveError) return [error.message];
    throw error;
  }
};

/**
 * Reads all of an encrypted backup with the passphrase that is stored; resolves to what is wrong with it, in words. Undefined when that
 * can't be told: none is stored, or it was made with another one.
 */
export const problemsByStored = async (path: string, stored: Stored): Promise<string[] | undefined> => {
  const passphrase = await stored();
  if (passphrase === undefined) return undefined;
  try {
    await (await openVerified(path, passphrase)).close();
    return [];
  } catch (error) {
    if (error instanceof WrongPassphrase) return undefined;
    if (error instanceof ArchiveError) return [error.message];
    throw error;
  }
};
