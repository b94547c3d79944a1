import { randomBytes } from 'node:crypto';
import { BACKUP_KINDS, type BackupKind } from '@sallyport/contract';

const NAME = new RegExp(`^sallyport-\\d{8}-\\d{6}-(${BACKUP_KINDS.join('|')})-[0-9a-f]{6}\\.backup$`);

/** Whether a text is the name of a backup: letters, digits and dashes, never a path. */
export const isBackupName = (text: string): boolean => NAME.test(text);

/** Why a backup is there, by its name; undefined for what is no name of one. */
export const kindOf = (name: string): BackupKind | undefined => NAME.exec(name)?.[1] as BackupKind | undefined;

/** A name that is not taken, with moment and kind for people: `sallyport-20261122-050000-manual-0a1b2c.backup`. */
export const newName = (kind: BackupKind, at: Date): string => {
  const digits = at.toISOString().replaceAll(/\D/g, '');
  return `sallyport-${digits.slice(0, 8)}-${digits.slice(8, 14)}-${kind}-${randomBytes(3).toString('hex')}.backup`;
};
