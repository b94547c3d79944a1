import { hash } from 'node:crypto';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { CertificateSource } from '../../../dataplane/routes/source.ts';
import type { StoredCertificate } from './store.ts';
import { endOf } from './usage.ts';

/** What tells a chain from the one that had its place before, and from itself before it was revoked; the key follows from it. */
export const versionOf = ({ chain_pem, revoked_at }: Pick<StoredCertificate, 'chain_pem' | 'revoked_at'>): string =>
  `${hash('sha256', chain_pem)}${revoked_at === null ? '' : ' revoked'}`;

/** Translates a stored certificate into what the data plane holds; the key is decrypted only when it is asked for. */
export const toCertificateSource = (certificate: StoredCertificate, vault: Vault): CertificateSource => ({
  id: certificate.id,
  version: versionOf(certificate),
  open: () => ({
    id: certificate.id,
    pem: `${certificate.chain_pem.trimEnd()}\n${vault.open(certificate.key_sealed, certificateKeyContext(certificate.uuid))}`,
    names: certificate.is_placeholder === 1 ? [] : certificate.domains.split(','),
    notAfter: Date.parse(endOf(certificate)),
  }),
});
