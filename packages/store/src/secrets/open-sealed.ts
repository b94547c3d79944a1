import type { Executor } from '../database/open.ts';
import { refuse } from '../errors.ts';
import { SEALED_PLACES } from './rotate-keys.ts';
import { createVault, keyIdOf, type Vault } from './vault.ts';

/**
 * Opens every secret of a store, and seals with the vault's key what another key sealed: `foreign` is that key, where it is
 * known. Returns how many were sealed anew. Throws a `Refusal` (400) that names the place, or both keys.
 */
export const adoptSecrets = async (tx: Executor, vault: Vault, foreign?: string | Buffer): Promise<number> => {
  const other = foreign === undefined ? undefined : createVault(foreign);
  let count = 0;
  for (const [place, texts] of Object.entries(SEALED_PLACES)) {
    for await (const { sealed, context, replace } of texts(tx)) {
      const keyId = keyIdOf(sealed);
      if (keyId === undefined) throw refuse.invalid(`${place} holds no sealed secret`);
      const opens = other !== undefined && keyId === other.keyId ? other : vault;
      let text: string;
      try {
        text = opens.open(sealed, context);
      } catch (cause) {
        if (opens === vault && keyId !== vault.keyId) {
          throw refuse.invalid(
            `its secrets are sealed with key ${keyId}, and this deployment has key ${vault.keyId}: a backup that was made with a passphrase holds its key, otherwise the file encryption.key.${keyId} has to be in the data directory`,
            { cause },
          );
        }
        throw refuse.invalid(`${place} holds a secret that can not be opened`, { cause });
      }
      if (keyId === vault.keyId) continue;
      await replace(vault.seal(text, context));
      count += 1;
    }
  }
  return count;
};
