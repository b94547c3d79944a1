import { refuse } from '@sallyport/store/errors';
import { fieldsOf, ifThere, type Reverter } from '../../reverter.ts';
import type { KeptCertificate } from './kept.ts';
import { REVOKED } from './replacing.ts';
import type { CertificatePlane, Certificates } from './service.ts';

const COLUMNS = [
  ...['id', 'uuid', 'name', 'provider', 'domains', 'chain_pem', 'key_pem'],
  ...['not_before', 'expires_at', 'is_placeholder', 'created_at', 'revoked_at'],
];

/** Takes uploads, replacements and deletions of certificates back, with their keys. `syncCertificates`: see `CertificatePlane`. */
export const createCertificateReverter = (
  certificates: Certificates,
  { syncCertificates }: Pick<CertificatePlane, 'syncCertificates'>,
): Reverter => {
  return {
    policy: 'sensitive',
    current: certificates.within.current,
    async prepareAll(undoings) {
      if (undoings.some(({ does }) => does === 'remove')) await certificates.within.backUp('before-certificate-delete');
    },
    async apply(tx, undoing, actor) {
      const { key } = undoing;
      switch (undoing.does) {
        case 'update':
          return { key, id: (await certificates.within.takeBack(tx, key, undoing.fields, actor)).id };
        case 'remove':
          return { key, id: (await certificates.within.remove(tx, key, actor)).id };
        case 'restore': {
          const kept = fieldsOf<KeptCertificate>(undoing.state, COLUMNS);
          if (kept.is_placeholder === 1) throw refuse.conflict('It had only been ordered: order it again');
          if (!kept.key_pem) throw refuse.conflict('Its private key was not kept, for it could not be opened any more');
          const created = await certificates.within.create(tx, { ...kept, provider: 'custom' }, actor);
          if (created.revoked_at !== null) throw refuse.conflict(REVOKED);
          return { key, id: created.id };
        }
        default:
          return undoing satisfies never;
      }
    },
    settle: (touched) => syncCertificates(touched.map(({ id }) => id)),
    show: (key) => ifThere(certificates.get(key)),
  };
};
