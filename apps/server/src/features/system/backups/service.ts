import { type FileHandle, open } from 'node:fs/promises';
import { ArchiveError } from '@sallyport/backup/format/archive-error';
import type { Archive } from '@sallyport/backup/format/open-archive';
import { discard } from '@sallyport/backup/shelf/files';
import { type BackupOptions, makeBackup } from '@sallyport/backup/shelf/make-backup';
import { isBackupName } from '@sallyport/backup/shelf/names';
import { createQueue } from '@sallyport/backup/shelf/one-at-a-time';
import { openVerified, problemsByStored, problemsOf } from '@sallyport/backup/shelf/open-backup';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import { createShelving } from '@sallyport/backup/shelf/shelve';
import { verifyShelved } from '@sallyport/backup/shelf/verify';
import type { Backup, BackupKind, BackupReport, ListQuery, ShelvedBackup } from '@sallyport/contract';
import { refuseApiToken } from '@sallyport/store/accounts/session-only';
import { type Actor, type ChangeEntry, type RecordChange, systemActor } from '@sallyport/store/actor';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion } from '@sallyport/store/object-version';
import type { Logger } from 'pino';
import type { CopyState } from './copies/copier.ts';
import { PASSING } from './passing.ts';
import type { ReceivedFile } from './upload-form.ts';

export interface BackupDeps {
  config: BackupOptions['config'];
  transactAside: TransactAside;
  record: RecordChange;
  /** Writes an event down that changes nothing else. */
  note: (entry: ChangeEntry) => Promise<void>;
  /** What `backup.passphrase` holds; undefined when it is not set. Throws when it can't be opened. */
  storedPassphrase: () => Promise<string | undefined>;
  /** How many scheduled, and how many automatic ones are kept. */
  keep: () => Promise<number>;
  copies: {
    /** Reads the settings once, to tell what became of the copies of any number of backups. */
    look: () => Promise<(backup: ShelvedBackup) => Promise<CopyState>>;
    /** Called when there is one to be copied. */
    made: () => void;
  };
  clock: () => Date;
  log: Logger;
}

/** Callers that ask for a backup while others are written or read wait, but not in any number. */
const MOST_WAITING = 8;

export const createBackups = (deps: BackupDeps) => {
  const { config, transactAside, record, note, storedPassphrase, keep, copies, clock, log } = deps;
  const shelf = createShelf(config.dataDir);
  const shelving = createShelving({ shelf, transactAside, record, clock });
  /** Writing and reading all of a backup takes a core and, with a passphrase, 128 MiB: one at a time. */
  const queue = createQueue();
  const inTurn = queue.run;

  const withCopy = async (backup: ShelvedBackup): Promise<Backup> => ({
    ...backup,
    ...(await (
      await copies.look()
    )(backup)),
  });

  /** Whoever lost the key must still be able to restore what holds another, and so to make the backup before that. */
  const passphraseHere = (): Promise<string | undefined> =>
    storedPassphrase().catch((err: unknown) => {
      log.warn({ err }, 'backup.passphrase can not be read; what is backed up before a change is not encrypted');
      return undefined;
    });

  /** For callers, who may be many; throws a 409. What is made by itself waits for its turn. */
  const refuseCrowd = (): void => {
    if (queue.waiting() < MOST_WAITING) return;
    throw refuse.conflict('Several backups are being made or read already; wait for one of them');
  };
  const askedFor = async <T>(work: () => Promise<T>): Promise<T> => {
    refuseCrowd();
    return inTurn(work);
  };

  const find = async (name: string): Promise<Backup> => {
    if (!isBackupName(name)) throw refuse.invalid('invalid name');
    const backup = await shelf.find(name);
    if (!backup) throw refuse.notFound('Backup not found');
    return withCopy(backup);
  };

  const retain = async (kind: BackupKind): Promise<void> => {
    if (!PASSING.includes(kind)) return;
    const all = await shelf.list();
    const newestValid = all.find(({ verified_at }) => verified_at !== null)?.name;
    const surplus = all.filter((backup) => backup.kind === kind).slice(await keep());
    for (const { name } of surplus) if (name !== newestValid) await shelf.remove(name);
  };

  const make = (about: Pick<BackupOptions, 'kind' | 'reason' | 'passphrase'>, actor: Actor): Promise<Backup> =>
    inTurn(async () => {
      const made = await makeBackup({ ...about, config, shelf, at: clock() });
      const { kind } = about;
      const backup = await shelving.add({ ...made, kind, isVerified: true, action: 'backup.create', actor });
      await retain(kind).catch((err: unknown) => log.warn({ err }, 'old backups could not be removed'));
      copies.made();
      return withCopy(backup);
    });

  return {
    /**
     * Opens a backup that is to be restored, with the stored passphrase when none is given; to be closed. Throws a 400 that says what
     * is wrong with it.
     */
    openVerified: (name: string, passphrase: string | undefined): Promise<Archive> =>
      askedFor(async () => {
        const { name: known } = await find(name);
        return openVerified(shelf.pathOf(known), passphrase, passphraseHere).catch((error: unknown) => {
          throw error instanceof ArchiveError ? refuse.invalid(error.message) : error;
        });
      }),

    async list(query: ListQuery): Promise<Page<Backup>> {
      const copyOf = await copies.look();
      const backups: Backup[] = [];
      for (const backup of await shelf.list()) backups.push({ ...backup, ...(await copyOf(backup)) });
      return pageOfRows(backups, query, {
        sortable: ['name', 'size', 'kind', 'created_at', 'verified_at', 'copied_at'],
        searchable: ['name', 'kind', 'reason', 'sha256'],
      });
    },

    /** Throws a 400 for what is no name of a backup, a 404 for one that nobody has. */
    get: find,

    /** Makes a backup because somebody asks for it. With a passphrase it holds the key: that takes a session (403). */
    async create(passphrase: string | undefined, actor: Actor): Promise<Backup> {
      if (passphrase !== undefined) refuseApiToken(actor);
      refuseCrowd();
      return make({ kind: 'manual', passphrase }, actor);
    },

    /** Makes a backup before something is changed that can't be taken back; `reason` in a few words with dashes. */
    createAutomatic: async (reason: string): Promise<Backup> =>
      make({ kind: 'automatic', reason, passphrase: await passphraseHere() }, systemActor('automatic backup')),

    createScheduled: async (): Promise<Backup> =>
      make({ kind: 'scheduled', passphrase: await storedPassphrase() }, systemActor('backup schedule')),

    /** For a file that is being uploaded. */
    draft: shelf.draft,

    /**
     * Takes an uploaded file among the backups. Throws a 400 that says what is wrong with it. One that is encrypted is read
     * through when its passphrase came with it or is the stored one; another is taken unread.
     */
    async takeUpload({ draft, sha256, passphrase }: ReceivedFile, actor: Actor): Promise<Backup> {
      try {
        return await askedFor(async () => {
          const header = await shelf.headerAt(draft.path).catch((error: unknown) => {
            throw error instanceof ArchiveError ? refuse.invalid(`file: ${error.message}`) : error;
          });
          const isOpen = header.encryption === null || passphrase !== undefined;
          const problems = await (isOpen
            ? problemsOf(draft.path, passphrase)
            : problemsByStored(draft.path, passphraseHere));
          const isVerified = problems !== undefined;
          if (problems && problems.length > 0) throw refuse.invalid(`file: ${problems.join('; ')}`);
          return withCopy(
            await shelving.add({ draft, sha256, kind: 'uploaded', isVerified, action: 'backup.upload', actor }),
          );
        });
      } finally {
        await discard(draft);
      }
    },

    /**
     * Opens a backup to be sent. What is not encrypted holds hashes of passwords, which could be tried at leisure: that takes a
     * session (403).
     */
    async download(name: string, actor: Actor): Promise<{ backup: Backup; file: FileHandle }> {
      const backup = await find(name);
      if (!backup.encrypted) refuseApiToken(actor);
      await note({ action: 'backup.download', actor, resource: `backups/${name}` });
      return { backup, file: await open(shelf.pathOf(name), 'r') };
    },

    /** Reads all of a backup, with the stored passphrase when none is given, and says what is wrong with it. */
    async verify(name: string, passphrase: string | undefined): Promise<BackupReport> {
      await find(name);
      return askedFor(async () => {
        const backup = await find(name);
        const problems = await verifyShelved(shelf, backup, { given: passphrase, stored: passphraseHere, at: clock() });
        return { valid: problems.length === 0, problems };
      });
    },

    async remove(name: string, actor: Actor, checkVersion = anyVersion): Promise<void> {
      const backup = await find(name);
      checkVersion(backup);
      await shelving.remove(backup, actor);
    },

    /** The newest backup that was read through without a fault and is unchanged since; null when there is none. */
    newestVerifiedBackup: shelf.newestVerified,
    /** Removes what a crash left; for the start. */
    tidy: shelf.tidy,
  };
};
export type Backups = ReturnType<typeof createBackups>;
