import { ConfigError } from '@sallyport/deployment/config';
import type { Database } from '../database/open.ts';
import { keyFile } from './key-file.ts';
import { keyIdOf, openVault, type Vault } from './vault.ts';

/**
 * Opens the vault of a store. Throws a `ConfigError` when the store was sealed with a key and the file that held it is
 * missing: a new key would open nothing, and what is sealed with it from then on would be lost with the next repair.
 */
export const openStoreVault = async (
  { kysely, kind }: Pick<Database, 'kysely' | 'kind'>,
  config: { dataDir: string; encryptionKey: string | undefined },
): Promise<Vault> => {
  const { path, exists } = keyFile(config.dataDir);
  if (config.encryptionKey === undefined && !exists) {
    // Sealed with the first change ever, and by every rotation.
    const chain = await kysely.selectFrom('audit_chain').select('key_sealed').executeTakeFirst();
    const keyId = keyIdOf(chain?.key_sealed ?? '');
    if (keyId !== undefined) {
      const source = kind === 'postgres' ? 'from a backup or from another node of this store' : 'from a backup';
      throw new ConfigError([
        `${path} is missing, and the store is sealed with the key that was in it (${keyId}): restore that file ${source}, or set SALLYPORT_ENCRYPTION_KEY to the key of this store`,
      ]);
    }
  }
  return openVault(config);
};
