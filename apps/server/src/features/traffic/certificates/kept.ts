import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { NewCertificate, StoredCertificate } from './store.ts';

/** A certificate as the history keeps it. */
export type KeptCertificate = Omit<StoredCertificate, 'key_sealed'> & { key_pem: string };

/** One that comes from elsewhere, or back. */
export type NewKeptCertificate = Omit<NewCertificate, 'key_sealed'> & { key_pem: string };

/** All that brings it back; without the key when that is sealed with one that is lost, which must not keep it here. */
export const keptOf = (
  { key_sealed, ...certificate }: StoredCertificate,
  vault: Pick<Vault, 'open'>,
): Omit<KeptCertificate, 'key_pem'> & { key_pem?: string } => {
  try {
    return { ...certificate, key_pem: vault.open(key_sealed, certificateKeyContext(certificate.uuid)) };
  } catch {
    return certificate;
  }
};
