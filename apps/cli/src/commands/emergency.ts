import { userInfo } from 'node:os';
import { newestCopy } from '@sallyport/backup/shelf/newest-copy';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import type { Config } from '@sallyport/deployment/config';
import { createDrill } from '@sallyport/recovery/drill/drill';
import { openProxy } from '@sallyport/recovery/open-proxy';
import { switchOffInStore } from '@sallyport/recovery/switch-off';
import { type RecordChange, systemActor } from '@sallyport/store/actor';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { pendingMigrations } from '@sallyport/store/database/migrate';
import type { Database } from '@sallyport/store/database/open';
import { createHistory, oneByOne, recordAll } from '@sallyport/store/history/record';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { SWITCH_KEYS } from '@sallyport/store/security-switches';
import { Command } from 'commander';
import { openStore } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { locate } from '../instances.ts';
import { print, printTable } from '../print.ts';

/** What writes changes to the audit trail and the history of the store; rejects when its key is not there. */
const openRecord = async (database: Database, config: Config): Promise<RecordChange> => {
  const vault = await openStoreVault(database, config);
  const { kysely: db, transactAside } = database;
  const clock = () => new Date();
  const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
  return oneByOne(recordAll(audit.recordMany, createHistory({ vault, clock })));
};

const ourActor = () => systemActor(`cli ${userInfo().username}`);

/** Stores that all is off. Throws a `CommandFailure`. */
const storeOff = async (config: Config): Promise<void> => {
  const database = openStore(config);
  try {
    const record = await openRecord(database, config).catch((error: Error) => {
      print(`not written to the audit trail: ${error.message}`);
      return undefined;
    });
    await switchOffInStore({ transact: database.transact, record }, ourActor());
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`not stored, so the next start of the proxy closes it again: ${what}`);
  } finally {
    await database.stop();
  }
};

const reset = () =>
  new Command('reset')
    .description('switch off all security modules: the way back in from a shell on this machine')
    .action(async (_options: object, command: Command) => {
      const { config } = locate(command);
      process.umask(0o077);
      const open = async () => {
        const opened = await openProxy(config.dataDir);
        if (opened.applied) print('the proxy lets everybody through');
        return opened;
      };
      // Beside each other: a proxy that hangs must not keep us from the store, nor a store from the proxy.
      const [opened, stored] = await Promise.allSettled([open(), storeOff(config)]);
      if (stored.status === 'rejected') throw stored.reason;
      for (const key of Object.values(SWITCH_KEYS)) print(`${key} = false`);
      if (opened.status === 'rejected') throw opened.reason;
      if (!opened.value.applied) print(`the proxy was not told (${opened.value.issue}); it starts open`);
    });

const drill = () =>
  new Command('drill')
    .description('prove the ways back in before they are needed; changes nothing')
    .action(async (_options: object, command: Command) => {
      const { config } = locate(command);
      process.umask(0o077);
      const database = openStore(config);
      try {
        // A store that does not answer is for the drill to tell.
        const pending = await pendingMigrations(database).catch(() => []);
        if (pending.length > 0) {
          throw new CommandFailure('the store is older than this version; run "sallyport migrate" first');
        }
        const { kysely: db, transactAside } = database;
        const record = await openRecord(database, config).catch((error: Error) => () => Promise.reject(error));
        const { run } = createDrill({
          config,
          db,
          transactAside,
          record,
          newestVerifiedBackup: createShelf(config.dataDir).newestVerified,
          copies: () => newestCopy(db, config.dataDir),
          clock: () => new Date(),
        });
        const { ok, checks, proven_at } = await run(ourActor());
        printTable(
          ['check', '', 'found'],
          checks.map((check) => [check.name, check.ok ? 'ok' : 'NOT OK', check.message]),
        );
        if (!ok) throw new CommandFailure(`not proven; last proven: ${proven_at ?? 'never'}`);
        print(`proven at ${proven_at}`);
      } finally {
        await database.stop();
      }
    });

/** `sallyport emergency …`: the third tier of emergency recovery. */
export const emergencyCommand = (): Command =>
  new Command('emergency').description('ways back in after a lock-out').addCommand(reset()).addCommand(drill());
