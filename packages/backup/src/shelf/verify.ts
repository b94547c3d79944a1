import type { ShelvedBackup } from '@sallyport/contract';
import { problemsOf, type Stored } from './open-backup.ts';
import type { Shelf } from './shelf.ts';

/** Reads all of a shelved backup, notes what came of it, and resolves to what is wrong with it, in words. */
export const verifyShelved = async (
  shelf: Shelf,
  { name, encrypted }: Pick<ShelvedBackup, 'name' | 'encrypted'>,
  { given, stored, at }: { given: string | undefined; stored: Stored; at: Date },
): Promise<string[]> => {
  const problems = await problemsOf(shelf.pathOf(name), given, stored);
  const isWhole = problems.length === 0;
  // A wrong passphrase tells nothing about the file.
  if (isWhole || !encrypted) await shelf.noteVerified(name, isWhole ? at : null);
  return problems;
};
