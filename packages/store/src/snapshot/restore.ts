import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Executor } from '../database/open.ts';
import { refuse } from '../errors.ts';
import { carryRevoked } from '../revoked-certificates.ts';
import { adoptSecrets } from '../secrets/open-sealed.ts';
import type { Vault } from '../secrets/vault.ts';
import { checkIdentities } from './check-identities.ts';
import { checkNetworks } from './check-networks.ts';
import { compareStores, type Differences } from './compare.ts';
import { putBack } from './put-back.ts';
import { type Snapshot, stage } from './stage.ts';

export interface RestoreDeps {
  database: Database;
  vault: Vault;
  /** The temporary store is made below it. */
  dataDir: string;
  clock: () => Date;
}

/** A snapshot that fits: nothing was changed by it yet. */
export interface Prepared {
  /** What putting it back would change now. */
  differences(): Promise<Differences>;
  /**
   * Puts it back in one transaction, in which `record` writes down that it was. Resolves with false, changing nothing, when the
   * store is not at `revision` any more. Once it is there, nothing more can be asked.
   */
  putBack(revision: number, record: (tx: Executor) => Promise<void>): Promise<boolean>;
}

/**
 * Looks at a store that is not in use yet, which is SQLite's in `directory`; throws a `Refusal` for what must not come into use.
 */
export type Check = (staged: Executor, directory: string) => Promise<void>;

/** Directories that a process which was killed has left can be told by it. */
const RESTORE_PREFIX = 'restore-';

class ChangedMeanwhile extends Error {}

const refuseDangling = async (staged: Executor): Promise<void> => {
  const host = await staged
    .selectFrom('proxy_hosts')
    .select('domain')
    .where('access_list_id', 'is not', null)
    .where('access_list_id', 'not in', staged.selectFrom('access_lists').select('id'))
    .limit(1)
    .executeTakeFirst();
  if (host) throw refuse.invalid(`the proxy host ${host.domain} refers to an access list that is missing`);
};

/**
 * Puts a snapshot into a store of its own, checks all of it there and hands it to `work`; the temporary store is removed
 * afterwards. `foreignKey` is the key that its secrets are sealed with, where that is known; `check` looks further than the
 * schema does. Throws a `Refusal` (400) that names what does not fit; the store of the deployment was not touched then.
 */
export const withPrepared = async <T>(
  { database, vault, dataDir, clock }: RestoreDeps,
  { snapshot, foreignKey, check }: { snapshot: Snapshot; foreignKey?: string | Buffer; check: Check },
  work: (prepared: Prepared) => Promise<T>,
): Promise<T> => {
  const { kysely: db, kind, transact, unhurried } = database;
  const directory = await mkdtemp(join(dataDir, RESTORE_PREFIX));
  let staged: Database | undefined;
  const discard = async (): Promise<void> => {
    await staged?.stop();
    staged = undefined;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    staged = await stage(directory, snapshot);
    const rows = staged.kysely;
    await rows.transaction().execute((tx) => adoptSecrets(tx, vault, foreignKey));
    await refuseDangling(rows);
    await checkIdentities(rows);
    await checkNetworks(rows);
    await check(rows, directory);
    await rows.transaction().execute((tx) => carryRevoked(tx, db, clock().toISOString()));
    return await work({
      differences: () => compareStores(db, rows),
      async putBack(revision, record) {
        try {
          await unhurried(() =>
            transact(async (tx, now) => {
              if (Number(now) !== revision + 1) throw new ChangedMeanwhile();
              await putBack(tx, { kind, staged: rows, now: clock().toISOString() });
              await record(tx);
            }),
          );
          // The room that it takes may be all there is for what has to be written until it is in force.
          await discard().catch(() => undefined);
          return true;
        } catch (error) {
          if (error instanceof ChangedMeanwhile) return false;
          throw error;
        }
      },
    });
  } finally {
    await discard();
  }
};

/** Removes what a process that was killed during a restore has left: whole stores, with secrets. */
export const removeLeftRestores = async (dataDir: string): Promise<void> => {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(RESTORE_PREFIX)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
};
