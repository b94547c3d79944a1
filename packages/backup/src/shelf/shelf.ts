import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupKind, ShelvedBackup } from '@sallyport/contract';
import { handOver } from '@sallyport/deployment/data-dir';
import { ArchiveError } from '../format/archive-error.ts';
import type { Header } from '../format/header.ts';
import { readHeader } from '../format/open-archive.ts';
import { type Draft, digestOf, keepAs, openDraft, removeDrafts, stampOf } from './files.ts';
import { isBackupName, kindOf, newName } from './names.ts';
import { type Note, readNote, removeLostNotes, removeNote, writeNote } from './notes.ts';

/** Where the backups of a deployment are. */
export const backupDirectory = (dataDir: string): string => join(dataDir, 'backups');

/** Of a name, up to the second in which the backup was made. */
const DATED_LENGTH = 'sallyport-YYYYMMDD-HHMMSS'.length;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The backups of a deployment: files in one directory (0700) that any process of it may add to. */
export const createShelf = (dataDir: string) => {
  const directory = backupDirectory(dataDir);
  const prepare = async (): Promise<void> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    handOver(directory, dataDir);
  };

  /** Only for names that `isBackupName` takes. */
  const pathOf = (name: string): string => {
    if (!isBackupName(name)) throw new Error(`${JSON.stringify(name)} is no name of a backup`);
    return join(directory, name);
  };

  /** What is noted of the file as it is now, found out when nothing is. */
  const noteOf = async (name: string): Promise<Note> => {
    const stamp = await stampOf(pathOf(name));
    const noted = await readNote(directory, name);
    if (noted?.stamp === stamp) return noted;
    const note = { stamp, sha256: await digestOf(pathOf(name)), verified_at: null };
    const meanwhile = await readNote(directory, name);
    if (meanwhile?.stamp === stamp) return meanwhile;
    // A full disk is no reason not to tell what is there.
    await writeNote(directory, name, note).catch(() => {});
    return note;
  };

  const headerOf = (name: string): Promise<Header | undefined> =>
    readHeader(pathOf(name)).catch((error: unknown) => {
      // Whatever it is, it is listed, so that it can be verified and removed.
      if (error instanceof ArchiveError) return undefined;
      throw error;
    });

  /** Undefined when there is none of that name. */
  const find = async (name: string): Promise<ShelvedBackup | undefined> => {
    try {
      const found = await stat(pathOf(name));
      // A pipe would be waited for.
      if (!found.isFile()) return undefined;
      const { size, mtime } = found;
      const header = await headerOf(name);
      const { sha256, verified_at } = await noteOf(name);
      return {
        name,
        size,
        kind: kindOf(name) as BackupKind,
        reason: header?.reason ?? '',
        encrypted: header?.encryption != null,
        sha256,
        created_at: header?.created_at ?? mtime.toISOString(),
        verified_at,
      };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /** In no order. What is behind them is not looked at, which takes a hundred times as long. */
  const names = async (): Promise<string[]> => {
    const found = await readdir(directory).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    return found.filter(isBackupName);
  };

  /** Of these, newest first; those that are gone are left out. */
  const findAll = async (some: readonly string[]): Promise<ShelvedBackup[]> => {
    const backups: ShelvedBackup[] = [];
    for (const name of some) {
      const backup = await find(name);
      if (backup) backups.push(backup);
    }
    return backups.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  };

  /** Newest first. */
  const list = async (): Promise<ShelvedBackup[]> => findAll(await names());

  /** What was made here and read through, newest first; no more is looked at than is asked for. */
  async function* verified(): AsyncGenerator<ShelvedBackup> {
    const own = (await names()).filter((name) => kindOf(name) !== 'uploaded');
    const bySecond = Map.groupBy(own.sort().reverse(), (name) => name.slice(0, DATED_LENGTH));
    for (const some of bySecond.values()) {
      for (const backup of await findAll(some)) if (backup.verified_at !== null) yield backup;
    }
  }

  return {
    pathOf,
    /** The first lines of any file. Throws an `ArchiveError` for one that is no backup. */
    headerAt: readHeader,
    find,
    names,
    findAll,
    list,

    /** Opens a file for a new backup. */
    async draft(): Promise<Draft> {
      await prepare();
      return openDraft(directory);
    },

    /** Makes a draft a backup; returns its name. `verifiedAt` is when all of it was read. */
    async keep(
      draft: Draft,
      { kind, at, verifiedAt, sha256 }: { kind: BackupKind; at: Date; verifiedAt: Date | null; sha256: string },
    ): Promise<string> {
      const name = newName(kind, at);
      // Before the file has its name: whoever lists it must not find out, and note, that nobody has verified it.
      const stamp = await stampOf(draft.path);
      await writeNote(directory, name, { stamp, sha256, verified_at: verifiedAt?.toISOString() ?? null });
      try {
        await keepAs(draft, directory, name);
      } catch (error) {
        await removeNote(directory, name);
        throw error;
      }
      return name;
    },

    /** Notes that a backup was read without finding a fault, or with one. */
    async noteVerified(name: string, at: Date | null): Promise<void> {
      const note = await noteOf(name);
      await writeNote(directory, name, { ...note, verified_at: at?.toISOString() ?? null });
    },

    async remove(name: string): Promise<void> {
      await rm(pathOf(name), { force: true });
      await removeNote(directory, name);
    },

    /** Removes what processes left that ended in the middle; for a start. */
    async tidy(): Promise<void> {
      await prepare();
      await removeDrafts(directory);
      await removeLostNotes(directory);
    },

    /** The newest backup made here that was read through once; undefined when there is none. */
    async newestRead(): Promise<ShelvedBackup | undefined> {
      for await (const backup of verified()) return backup;
      return undefined;
    },

    /** The newest backup made here that was read through, and whose bytes are still the same; null when there is none. */
    async newestVerified(): Promise<ShelvedBackup | null> {
      for await (const backup of verified()) {
        const now = await digestOf(pathOf(backup.name)).catch(() => undefined);
        if (now === backup.sha256) return backup;
      }
      return null;
    },
  };
};
export type Shelf = ReturnType<typeof createShelf>;
