import { keyFile, loadOrCreateKey, loadRetiredKey } from './key-file.ts';
import { createVault } from './vault.ts';

/** The key material of a deployment whose vault has this id, also when it is one from before; undefined when it is not here. */
export const keyMaterial = (
  { dataDir, encryptionKey }: { dataDir: string; encryptionKey: string | undefined },
  keyId: string,
): Buffer | undefined => {
  const candidates =
    encryptionKey === undefined
      ? [keyFile(dataDir).exists ? loadOrCreateKey(dataDir) : undefined, loadRetiredKey(dataDir, keyId)]
      : [Buffer.from(encryptionKey)];
  return candidates.find((material) => material && createVault(material).keyId === keyId);
};
