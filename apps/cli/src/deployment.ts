import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type Config, parseConfig } from '@sallyport/deployment/config';
import { readEnvironment } from '@sallyport/deployment/config-sources';
import { createLog } from '@sallyport/deployment/log';
import { type Accounts, createAccounts } from '@sallyport/server/features/accounts/index';
import { createSafeFetch } from '@sallyport/server/net/safe-fetch';
import { systemLookup } from '@sallyport/server/net/system-lookup';
import { type Actor, systemActor } from '@sallyport/store/actor';
import { pendingMigrations } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Command } from 'commander';
import { CommandFailure } from './failure.ts';

/** The store of a deployment, opened beside whatever else uses it. */
export interface Deployment {
  config: Config;
  database: Database;
  vault: Vault;
  accounts: Accounts;
  /** Who runs the command, for the audit trail. */
  actor: Actor;
}

/** Reads the configuration as the server would. Throws `ConfigError`. */
export const loadConfig = (command: Command): Config => {
  const { dataDir } = command.optsWithGlobals<{ dataDir?: string }>();
  const flags = dataDir === undefined ? [] : ['--data-dir', dataDir];
  return parseConfig(readEnvironment(flags, process.env, process.cwd()), process.cwd());
};

/** Opens the store without changing it. A directory that holds none is a mistake, not a wish for a new one. */
export const openStore = (config: Config): Database => {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'sallyport.db'))) {
    throw new CommandFailure(`${config.dataDir} holds no store; run "sallyport migrate" or start Sallyport first`);
  }
  return openDatabase(config);
};

/** Runs `work` on the store of the deployment and closes it afterwards. */
export const withDeployment = async (
  command: Command,
  work: (deployment: Deployment) => Promise<void>,
): Promise<void> => {
  const config = loadConfig(command);
  // Whatever this creates is nobody else's business.
  process.umask(0o077);
  const database = openStore(config);
  try {
    if ((await pendingMigrations(database)).length > 0) {
      throw new CommandFailure('the store is older than this version; run "sallyport migrate" first');
    }
    const vault = await openStoreVault(database, config);
    const accounts = createAccounts({
      database,
      vault,
      sessionSecret: undefined,
      localUrl: () => '',
      fetch: createSafeFetch({ lookup: systemLookup }),
      clock: () => new Date(),
      log: createLog('cli', 'silent'),
    });
    await accounts.audit.checkKey().catch((error: Error) => {
      throw new CommandFailure(`the encryption key is not the one of this store: ${error.message}`);
    });
    await work({ config, database, vault, accounts, actor: systemActor(`cli ${userInfo().username}`) });
  } finally {
    await database.stop();
  }
};
