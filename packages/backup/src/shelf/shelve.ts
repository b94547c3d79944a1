import type { BackupKind, ShelvedBackup } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { TransactAside } from '@sallyport/store/database/open';
import { type Draft, discard } from './files.ts';
import type { Shelf } from './shelf.ts';

export interface ShelveDeps {
  shelf: Shelf;
  transactAside: TransactAside;
  record: RecordChange;
  clock: () => Date;
}

/** A draft that is whole. */
export interface Finished {
  draft: Draft;
  sha256: string;
  kind: BackupKind;
  isVerified: boolean;
  action: 'backup.create' | 'backup.upload';
  actor: Actor;
}

/** What the audit trail tells of a backup. */
const identity = ({ name, kind, reason, encrypted, sha256 }: ShelvedBackup) => ({
  name,
  kind,
  reason,
  encrypted,
  sha256,
});

/** Puts backups on the shelf and takes them off, and writes that down: both, or neither. */
export const createShelving = ({ shelf, transactAside, record, clock }: ShelveDeps) => ({
  /** Gives a draft its name; when that fails, nothing is left of it. */
  async add({ draft, sha256, kind, isVerified, action, actor }: Finished): Promise<ShelvedBackup> {
    let name: string | undefined;
    try {
      return await transactAside(async (tx) => {
        const at = clock();
        name = await shelf.keep(draft, { kind, at, verifiedAt: isVerified ? at : null, sha256 });
        const backup = await shelf.find(name);
        if (!backup) throw new Error(`${name} is gone`);
        await record(tx, { action, actor, resource: `backups/${name}`, after: identity(backup) });
        return backup;
      });
    } catch (error) {
      if (name !== undefined) await shelf.remove(name);
      throw error;
    } finally {
      await discard(draft);
    }
  },

  async remove(backup: ShelvedBackup, actor: Actor): Promise<void> {
    const { name } = backup;
    await transactAside(async (tx) => {
      await record(tx, { action: 'backup.delete', actor, resource: `backups/${name}`, before: identity(backup) });
      await shelf.remove(name);
    });
  },
});
