import type { ListedCertificate, ProxyHost } from '@sallyport/contract';
import type { TFunction } from 'i18next';

type CertificateFields = Pick<ProxyHost, 'auto_certificate' | 'certificate_id'>;

/** What can be chosen as a host's certificate: one that is ordered, the best one by name, or one that is stored. */
export const certificateChoices = (
  certificates: readonly ListedCertificate[] | undefined,
  t: TFunction<['traffic', 'common']>,
) => [
  {
    group: t('traffic:hosts.certificateBy'),
    items: [
      { value: 'auto', label: t('traffic:hosts.certificateAutoLong') },
      { value: 'match', label: t('traffic:hosts.certificateMatchLong') },
    ],
  },
  {
    group: t('traffic:hosts.certificateStored'),
    items: (certificates ?? []).map(({ id, name, domains }) => ({
      value: String(id),
      label: domains === name ? name : `${name} (${domains.split(',').slice(0, 3).join(', ')})`,
    })),
  },
];

/** The fields that say the same as a choice. */
export const certificateFields = (choice: string): CertificateFields => ({
  auto_certificate: choice === 'auto',
  certificate_id: choice === 'auto' || choice === 'match' ? null : Number(choice),
});

/** The choice that says the same as the fields. */
export const certificateChoice = ({ auto_certificate, certificate_id }: CertificateFields): string => {
  if (certificate_id !== null) return String(certificate_id);
  return auto_certificate ? 'auto' : 'match';
};
