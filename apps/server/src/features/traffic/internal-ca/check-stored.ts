import { createPrivateKey, X509Certificate } from 'node:crypto';
import { INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Row } from '@sallyport/store/snapshot/read-tables';

/** Throws an `Error` unless a row is an authority that can sign: a root, and its key. */
export const checkAuthority = ({ root_pem, key_sealed }: Row, vault: Pick<Vault, 'open'>): void => {
  const root = new X509Certificate(String(root_pem));
  const key = createPrivateKey(vault.open(String(key_sealed), INTERNAL_CA_CONTEXT));
  if (!root.ca || !root.checkPrivateKey(key)) throw new Error('the root and its key are no authority');
};
