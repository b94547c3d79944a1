import { INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Row } from '@sallyport/store/snapshot/read-tables';
import { checkAuthority } from './authority.ts';
import { ROOTS } from './store.ts';

/** Throws an `Error` unless a row is one of the authorities that there can be, and can sign: a root, and its key. */
export const checkStoredAuthority = ({ id, root_pem, key_sealed }: Row, vault: Pick<Vault, 'open'>): void => {
  if (id !== ROOTS.active && id !== ROOTS.next) throw new Error('it is neither the one that signs nor the next one');
  checkAuthority({ rootPem: String(root_pem), keyPem: vault.open(String(key_sealed), INTERNAL_CA_CONTEXT) });
};
