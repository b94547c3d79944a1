import type { Config } from '@sallyport/deployment/config';
import type { Executor } from '@sallyport/store/database/open';
import { settingContext } from '@sallyport/store/secrets/contexts';
import { keyMaterial } from '@sallyport/store/secrets/deployment-key';
import { createVault, keyIdOf } from '@sallyport/store/secrets/vault';

const KEY = 'backup.passphrase';

/**
 * What the setting `backup.passphrase` holds, in a store of this or of an earlier version. Undefined when it holds nothing, or
 * nothing that a key of this deployment opens: a backup that is not encrypted is better than none before something is changed.
 */
export const storedPassphrase = async (
  db: Executor,
  config: Pick<Config, 'dataDir' | 'encryptionKey'>,
): Promise<string | undefined> => {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'settings')) return undefined;
  const row = await db.selectFrom('settings').select('value').where('key', '=', KEY).executeTakeFirst();
  const keyId = keyIdOf(row?.value ?? '');
  if (row === undefined || keyId === undefined) return undefined;
  try {
    const material = keyMaterial(config, keyId);
    return material && (createVault(material).open(row.value, settingContext(KEY)) || undefined);
  } catch {
    return undefined;
  }
};
