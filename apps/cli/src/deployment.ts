import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Config } from '@sallyport/deployment/config';
import { createTokens, type Tokens } from '@sallyport/store/accounts/tokens/service';
import { tokenStore } from '@sallyport/store/accounts/tokens/store';
import { createUsers, type Users } from '@sallyport/store/accounts/users/service';
import { userStore } from '@sallyport/store/accounts/users/store';
import { type Actor, systemActor } from '@sallyport/store/actor';
import { type Audit, createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { pendingMigrations } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { createPasswordHasher } from '@sallyport/store/secrets/password-hasher';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Command } from 'commander';
import { CommandFailure } from './failure.ts';
import { loadConfig } from './load-config.ts';

/** The store of a deployment, opened beside whatever else uses it. */
export interface Deployment {
  config: Config;
  database: Database;
  vault: Vault;
  audit: Audit;
  users: Users;
  tokens: Tokens;
  /** Who runs the command, for the audit trail. */
  actor: Actor;
}

/** Whether there is one: PostgreSQL says so itself. */
export const hasStore = (config: Config): boolean =>
  config.databaseUrl !== undefined || existsSync(join(config.dataDir, 'sallyport.db'));

/** Opens the store without changing it. A directory that holds none is a mistake, not a wish for a new one. */
export const openStore = (config: Config): Database => {
  if (!hasStore(config)) {
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
    const { kysely: db, transactAside } = database;
    const clock = () => new Date();
    const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
    await audit.checkKey().catch((error: Error) => {
      throw new CommandFailure(`the encryption key is not the one of this store: ${error.message}`);
    });
    // Running servers look for changed accounts by themselves: there is nothing here to invalidate.
    const common = { db, transactAside, record: audit.record, invalidate: () => {}, clock };
    await work({
      config,
      database,
      vault,
      audit,
      users: createUsers({ ...common, store: userStore, hasher: createPasswordHasher() }),
      tokens: createTokens({ ...common, store: tokenStore }),
      actor: systemActor(`cli ${userInfo().username}`),
    });
  } finally {
    await database.stop();
  }
};
