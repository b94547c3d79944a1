import { refuse } from '@sallyport/store/errors';
import { fieldsOf, ifThere, type Reverter } from '../../reverter.ts';
import type { CertificatePlane, Certificates, KeptCertificate } from './service.ts';
import { certificateStore } from './store.ts';

const COLUMNS = [
  ...['id', 'uuid', 'name', 'provider', 'domains', 'chain_pem', 'key_pem'],
  ...['not_before', 'expires_at', 'created_at'],
];

/** Takes uploads and deletions of certificates back, with their keys. `syncCertificates`: see `CertificatePlane`. */
export const createCertificateReverter = (
  certificates: Certificates,
  { syncCertificates }: Pick<CertificatePlane, 'syncCertificates'>,
): Reverter => {
  return {
    policy: 'sensitive',
    current: (tx, key) => certificateStore(tx).find(key),
    async prepare(undoing) {
      if (undoing.does === 'remove') await certificates.within.backUp('before-certificate-delete');
    },
    async apply(tx, undoing, actor) {
      const { key } = undoing;
      switch (undoing.does) {
        case 'update':
          throw refuse.conflict('A certificate never changes: upload the other one');
        case 'remove':
          return { key, id: (await certificates.within.remove(tx, key, actor)).id };
        case 'restore': {
          const kept = fieldsOf<KeptCertificate>(undoing.state, COLUMNS);
          if (!kept.key_pem) throw refuse.conflict('Its private key was not kept, for it could not be opened any more');
          return { key, id: (await certificates.within.create(tx, kept, actor)).id };
        }
        default:
          return undoing satisfies never;
      }
    },
    settle: (touched) => syncCertificates(touched.map(({ id }) => id)),
    show: (key) => ifThere(certificates.get(key)),
  };
};
