import { userInfo } from 'node:os';
import { openProxy } from '@sallyport/recovery/open-proxy';
import { switchOffInStore } from '@sallyport/recovery/switch-off';
import { systemActor } from '@sallyport/store/actor';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { createHistory, recordAll } from '@sallyport/store/history/record';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { SWITCH_KEYS } from '@sallyport/store/security-switches';
import { Command } from 'commander';
import { loadConfig, openStore } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print } from '../print.ts';

const reset = () =>
  new Command('reset')
    .description('switch off all security modules: the way back in from a shell on this machine')
    .action(async (_options: object, command: Command) => {
      const config = loadConfig(command);
      process.umask(0o077);
      // Before anything that may fail or has to wait.
      const opened = await openProxy(config.dataDir);
      if (opened.applied) print('the proxy lets everybody through');
      const database = openStore(config);
      try {
        const { kysely: db, transactAside } = database;
        const vault = await openStoreVault(database, config).catch((error: Error) => {
          print(`not written to the audit trail: ${error.message}`);
          return undefined;
        });
        const clock = () => new Date();
        const audit = vault && createAudit({ db, transactAside, store: auditStore, vault, clock });
        const record = audit && recordAll(audit.record, createHistory({ vault, clock }));
        const actor = systemActor(`cli ${userInfo().username}`);
        await switchOffInStore({ transact: database.transact, record }, actor);
      } catch (error) {
        const what = error instanceof Error ? error.message : String(error);
        throw new CommandFailure(`not stored, so the next start of the proxy closes it again: ${what}`);
      } finally {
        await database.stop();
      }
      for (const key of Object.values(SWITCH_KEYS)) print(`${key} = false`);
      if (!opened.applied) print(`the proxy was not told (${opened.issue}); it starts open`);
    });

/** `sallyport emergency …`: the third tier of emergency recovery. */
export const emergencyCommand = (): Command =>
  new Command('emergency').description('ways back in after a lock-out').addCommand(reset());
