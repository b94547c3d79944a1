import { storedPassphrase } from '@sallyport/backup/shelf/stored-passphrase';
import type { Config } from '@sallyport/deployment/config';
import { hasStore, openStore } from './deployment.ts';

/** What `backup.passphrase` of the deployment holds; undefined where there is no deployment yet. */
export const deploymentPassphrase = async (config: Config): Promise<string | undefined> => {
  if (!hasStore(config)) return undefined;
  const database = openStore(config);
  try {
    return await storedPassphrase(database.kysely, config);
  } finally {
    await database.stop();
  }
};
