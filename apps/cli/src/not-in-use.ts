import { findInstances, isSameDirectory } from '@sallyport/deployment/instances';
import { countOtherConnections } from '@sallyport/store/database/connections';
import type { Deployment } from './deployment.ts';
import { CommandFailure } from './failure.ts';

/** Throws a `CommandFailure` while anybody may change the store: a Sallyport of this machine, or who is connected to PostgreSQL. */
export const refuseWhileInUse = async ({
  config,
  database,
}: Pick<Deployment, 'config' | 'database'>): Promise<void> => {
  const instance = findInstances().find((running) => isSameDirectory(running.config.dataDir, config.dataDir));
  if (instance)
    throw new CommandFailure(`Sallyport runs on ${config.dataDir} (process ${instance.pid}); stop it first`);
  const others = await countOtherConnections(database);
  if (others > 0) {
    throw new CommandFailure(`${others} other connections use this store; stop every node of it first`);
  }
};
