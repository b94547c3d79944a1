import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@sallyport/deployment/config';
import { switchOffInStore } from '@sallyport/recovery/switch-off';
import type { Actor, ChangeEntry } from '@sallyport/store/actor';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { createHistory, oneByOne, recordAll } from '@sallyport/store/history/record';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import type { Logger } from 'pino';

/** Statements of SQLite stop this whole process: one that waits for a lock must let us answer in between. */
const BUSY_MS = 250;

/** The store as this process uses it: opened for each thing to do, so that whatever became of it since does no harm. */
export const createEmergencyStore = (config: Config, log: Logger) => {
  const withStore = async (work: (database: Database) => Promise<void>): Promise<void> => {
    // Opening would make an empty one.
    if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'sallyport.db'))) {
      throw new Error(`${config.dataDir} holds no store`);
    }
    const database = openDatabase({ ...config, busyMs: BUSY_MS });
    try {
      await work(database);
    } finally {
      await database.stop();
    }
  };

  const clock = () => new Date();
  const auditOf = async (database: Database) => {
    const vault = await openStoreVault(database, config);
    const { kysely: db, transactAside } = database;
    const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
    await audit.checkKey();
    return { ...audit, record: oneByOne(recordAll(audit.recordMany, createHistory({ vault, clock }))) };
  };

  return {
    /** Switches the suite off and writes that down, in one transaction. Rejects when the store can't be written. */
    switchOff: (actor: Actor): Promise<void> =>
      withStore(async (database) => {
        // Without its key nobody can write to the trail; that must not keep the operator out.
        const audit = await auditOf(database).catch((error: Error) => {
          log.error({ reason: error.message }, 'the audit trail can not be written: its key is not there');
          return undefined;
        });
        await switchOffInStore({ transact: database.transact, record: audit?.record }, actor);
      }),

    /** Writes an event down. Rejects when the store can't be written. */
    note: (entry: ChangeEntry): Promise<void> =>
      withStore(async (database) => {
        const audit = await auditOf(database);
        await audit.note(entry);
      }),
  };
};
