import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from './files.ts';

/** What was found out about a file once, so that a list need not read all of it again. It may get lost. */
export interface Note {
  /** Of the file that it was found out about. */
  stamp: string;
  sha256: string;
  /** ISO 8601. */
  verified_at: string | null;
}

const SUFFIX = '.note';

const isNote = (value: unknown): value is Note => {
  if (typeof value !== 'object' || value === null) return false;
  const { stamp, sha256, verified_at } = value as Record<string, unknown>;
  return (
    typeof stamp === 'string' &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    (verified_at === null || (typeof verified_at === 'string' && !Number.isNaN(Date.parse(verified_at))))
  );
};

/** The note beside a backup; undefined when there is none that can be read. */
export const readNote = async (directory: string, name: string): Promise<Note | undefined> => {
  try {
    const note: unknown = JSON.parse(await readFile(join(directory, `${name}${SUFFIX}`), 'utf8'));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
};

export const writeNote = (directory: string, name: string, note: Note): Promise<void> =>
  writeWhole(directory, `${name}${SUFFIX}`, JSON.stringify(note));

export const removeNote = (directory: string, name: string): Promise<void> =>
  rm(join(directory, `${name}${SUFFIX}`), { force: true });

/** Removes notes whose backup is gone. */
export const removeLostNotes = async (directory: string): Promise<void> => {
  const names = new Set(await readdir(directory));
  for (const name of names) {
    if (name.endsWith(SUFFIX) && !names.has(name.slice(0, -SUFFIX.length)))
      await rm(join(directory, name), { force: true });
  }
};
