import { refuseApiToken } from '@sallyport/store/accounts/session-only';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Database, Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { Vault } from '@sallyport/store/secrets/vault';
import { type Differences, revisionOf } from '@sallyport/store/snapshot/compare';
import { type Prepared, withPrepared } from '@sallyport/store/snapshot/restore';
import type { Snapshot } from '@sallyport/store/snapshot/stage';

/** A backup that was opened. */
export interface OpenBackup extends Snapshot {
  /** What its secrets are sealed with, when it says so. */
  key: string | Buffer | undefined;
  /** Puts its files where there are none; see `putFiles`. */
  putFiles(): Promise<unknown>;
  close(): Promise<void>;
}

export interface RestoreDeps {
  database: Database;
  vault: Vault;
  dataDir: string;
  /** Opens a backup by its name. Throws a `Refusal` for one that is not there, damaged, or locked by another passphrase. */
  open: (name: string, passphrase: string | undefined) => Promise<OpenBackup>;
  /** Makes a backup of what there is; resolves with its name. */
  backUp: (reason: string) => Promise<string>;
  /** Looks at what a backup holds, before it comes into use; throws a `Refusal`. */
  check: (staged: Executor) => Promise<void>;
  /** See `createRestoredState`. */
  during: <T>(swap: (close: () => Promise<void>) => Promise<T>) => Promise<T>;
  /** To be called when the store holds something else: whatever is kept of it in memory is forgotten. */
  forget: () => void;
  record: RecordChange;
  clock: () => Date;
}

export interface Restored {
  /** False after a dry run. */
  restored: boolean;
  changes: Differences;
  /** What was there before, as a backup; absent after a dry run. */
  backup?: string;
}

/** How often a restore begins anew because something was changed between the backup before it and itself. */
const MOST_ATTEMPTS = 5;

/**
 * Puts backups back. All of one is looked at in a store of its own before; what is there is backed up; the change is one
 * transaction, from whose commit on the proxy lets nobody through until all of it is in force.
 */
export const createRestore = (deps: RestoreDeps) => {
  const { database, open, backUp, check, during, forget, record } = deps;
  const { kysely: db } = database;
  let isUnderway = false;

  /** Resolves with undefined when something was changed meanwhile, which would be in no backup. */
  const attempt = async (name: string, prepared: Prepared, actor: Actor): Promise<Restored | undefined> => {
    const revision = await revisionOf(db);
    const changes = await prepared.differences();
    const backup = await backUp('before-restore');
    const isDone = await during((close) =>
      prepared.putBack(revision, async (tx) => {
        await record(tx, { action: 'backup.restore', actor, resource: `backups/${name}`, after: { changes, backup } });
        // Last of all: the rows of a large backup take seconds.
        await close();
      }),
    );
    return isDone ? { restored: true, changes, backup } : undefined;
  };

  const restoreInto = async (name: string, prepared: Prepared, actor: Actor): Promise<Restored> => {
    for (let left = MOST_ATTEMPTS; left > 0; left -= 1) {
      const done = await attempt(name, prepared, actor);
      if (done) return done;
    }
    throw refuse.conflict('The store is being changed all the time: nothing was restored; try again when it is quiet');
  };

  const putBack = async (name: string, prepared: Prepared, backup: OpenBackup, actor: Actor): Promise<Restored> => {
    try {
      const restored = await restoreInto(name, prepared, actor);
      await backup.putFiles();
      return restored;
    } finally {
      forget();
    }
  };

  return {
    /**
     * Throws a `Refusal`: 403 for an API token, which must not change what only sessions may; 404 for an unknown backup; 400 for one that
     * does not fit; 409 while another one is being restored. Nothing was changed then.
     */
    async restore(
      name: string,
      { passphrase, dry_run: isDry = false }: { passphrase?: string; dry_run?: boolean },
      actor: Actor,
    ): Promise<Restored> {
      refuseApiToken(actor);
      if (isUnderway) throw refuse.conflict('A backup is being restored');
      isUnderway = true;
      try {
        const backup = await open(name, passphrase);
        try {
          return await withPrepared(
            deps,
            { snapshot: backup, check, ...(backup.key === undefined ? {} : { foreignKey: backup.key }) },
            async (prepared) =>
              isDry
                ? { restored: false, changes: await prepared.differences() }
                : await putBack(name, prepared, backup, actor),
          );
        } finally {
          await backup.close();
        }
      } finally {
        isUnderway = false;
      }
    },
  };
};
export type Restore = ReturnType<typeof createRestore>;
