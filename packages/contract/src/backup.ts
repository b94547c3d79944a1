import { choice, ignoring, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** Why a backup is there: somebody made it, it was time, something was about to be changed, or it came from elsewhere. */
export const BACKUP_KINDS = ['manual', 'scheduled', 'automatic', 'uploaded'] as const;
export type BackupKind = (typeof BACKUP_KINDS)[number];

/** What the server assigns. */
const ASSIGNED = [
  'name',
  'size',
  'kind',
  'reason',
  'encrypted',
  'sha256',
  'created_at',
  'verified_at',
  'copied_at',
  'copy_problem',
  'copy_retry_at',
];

export const Backup = Type.Object(
  {
    name: Type.String({ description: 'Name of the file in `backups/` of the data directory; used in paths.' }),
    size: Type.Integer({ description: 'Bytes.' }),
    kind: choice(BACKUP_KINDS, {
      description: 'Scheduled and automatic ones are removed when there are more of them than `backup.keep`.',
    }),
    reason: Type.String({ description: 'What it was made before, such as before-certificate-delete; else empty.' }),
    encrypted: Type.Boolean({
      description: 'Opens with its passphrase only, and holds the key that secrets are sealed with.',
    }),
    sha256: Type.String({ description: 'Of the file, as `sha256sum` shows it.' }),
    created_at: Timestamp,
    verified_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When the whole of it was last read without finding a fault; null: never.',
    }),
    copied_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When it was copied to where `backup.copy_url` says; null: not yet, or not at all.',
    }),
    copy_problem: Type.String({ description: 'Why it is not copied there; empty when it is, or waits for its turn.' }),
    copy_retry_at: Type.Union([Timestamp, Type.Null()], {
      description:
        'After a failure: when it is tried again; null: it is there, stays here, or comes as soon as it can.',
    }),
  },
  { title: 'Backup' },
);
export type Backup = Static<typeof Backup>;

/** What the file itself tells, whatever became of its copy. */
export type ShelvedBackup = Omit<Backup, 'copied_at' | 'copy_problem' | 'copy_retry_at'>;

/** Shorter ones can be guessed by whoever has the file, at leisure. */
export const SHORTEST_PASSPHRASE = 12;

export const NewBackup = Type.Object(
  {
    passphrase: Type.Optional(
      Type.String({
        minLength: SHORTEST_PASSPHRASE,
        maxLength: 1_024,
        description:
          'Encrypts the whole backup and puts the key of this deployment into it. Takes a session, no API token.',
      }),
    ),
  },
  ignoring('NewBackup', ASSIGNED),
);
export type NewBackup = Static<typeof NewBackup>;

export const BackupPassphrase = Type.Object(
  {
    passphrase: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        description: 'Of a backup that is encrypted; default: `backup.passphrase`.',
      }),
    ),
  },
  { title: 'BackupPassphrase' },
);
export type BackupPassphrase = Static<typeof BackupPassphrase>;

export const BackupReport = Type.Object(
  {
    valid: Type.Boolean(),
    problems: Type.Array(Type.String(), { description: 'What is wrong with it, in words; empty when nothing is.' }),
  },
  { title: 'BackupReport' },
);
export type BackupReport = Static<typeof BackupReport>;

export const BackupCopyTest = Type.Object(
  {
    copied: Type.Boolean({ description: 'A small file was written there, read back, and removed.' }),
    error: Type.String({ description: 'Why not; empty when it was.' }),
    notice: Type.String({ description: 'Why nothing that is made by itself would be copied there; else empty.' }),
  },
  { title: 'BackupCopyTest' },
);
export type BackupCopyTest = Static<typeof BackupCopyTest>;
