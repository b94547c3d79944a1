import type { SettingKey, ShelvedBackup } from '@sallyport/contract';
import { isInClear } from '../../../../net/places/place-url.ts';

type Read = (key: SettingKey) => Promise<string>;

/** What the settings say of copies at one moment. */
export interface CopyRules {
  /** The place; empty: nothing is copied. */
  to: string;
  /** Whether what is made by itself is encrypted. */
  isEncrypting: boolean;
  copyUnencrypted: boolean;
}

export const readCopyRules = async (read: Read): Promise<CopyRules> => ({
  to: await read('backup.copy_url'),
  // One that can't be opened is a matter of whoever makes backups.
  isEncrypting: (await read('backup.passphrase').catch(() => '')) !== '',
  copyUnencrypted: (await read('backup.copy_unencrypted')) === 'true',
});

const HOW_TO =
  'scheduled and automatic ones are with backup.passphrase, others with a passphrase of their own; backup.copy_unencrypted has them copied nonetheless';

/** Why a backup stays here, whatever the place is like; empty when nothing keeps it. */
export const reasonToStay = (
  { kind, encrypted }: Pick<ShelvedBackup, 'kind' | 'encrypted'>,
  { to, copyUnencrypted }: CopyRules,
): string => {
  if (kind === 'uploaded') return 'it was uploaded';
  if (encrypted) return '';
  if (!copyUnencrypted) return `it is not encrypted: ${HOW_TO}`;
  return isInClear(to) ? 'it is not encrypted, and http:// does not encrypt it either' : '';
};

/** What to tell when there is a place for copies, and nothing that is made by itself would be copied there; else empty. */
export const whyNothingIsCopied = (rules: CopyRules): string => {
  if (rules.to === '') return '';
  const reason = reasonToStay({ kind: 'scheduled', encrypted: rules.isEncrypting }, rules);
  if (reason === '') return '';
  return rules.copyUnencrypted
    ? 'Scheduled and automatic backups are not copied: they are not encrypted, and http:// does not encrypt them either. Set backup.passphrase.'
    : 'Scheduled and automatic backups are not copied, because they are not encrypted. Set backup.passphrase.';
};

/** What whoever changed a setting of backups should know; empty: nothing. `wasSet`: it had a value before. */
export const noticeOfChange = async (key: SettingKey, wasSet: boolean, read: Read): Promise<string> => {
  if (!key.startsWith('backup.')) return '';
  const isNewPassphrase = key === 'backup.passphrase' && wasSet;
  const old = isNewPassphrase
    ? 'What was encrypted before, here and where it was copied to, opens with the passphrase it was made with, and no other: keep that one.'
    : '';
  return [old, whyNothingIsCopied(await readCopyRules(read))].filter((sentence) => sentence !== '').join(' ');
};
