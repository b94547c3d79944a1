import { NativeSelect, Text } from '@mantine/core';
import type { CertificateInUse, RevocationReason, RevokedCertificate } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconCertificateOff } from '../../../ui/icons.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { PasswordDialog } from './password-dialog.tsx';

const REASONS: readonly RevocationReason[] = [
  ...(['unspecified', 'key_compromise', 'superseded'] as const),
  ...(['affiliation_changed', 'cessation_of_operation'] as const),
];

/** Asks, says what happens, and has an ordered certificate revoked; of the internal authority: says what can be done instead. */
export const Revoke = ({ certificate: { uuid, name, source, status } }: { certificate: CertificateInUse }) => {
  const { t } = useTranslation('traffic');
  const { user } = useWho();
  const [reason, setReason] = useState<RevocationReason>('unspecified');
  const { mutateAsync } = useChange<RevokedCertificate>();
  const revoke = async (password: string) => {
    const body = user ? { reason, password } : { reason };
    const { data } = await mutateAsync({ method: 'POST', path: `/certificates/${uuid}/revoke`, body });
    notifyDone(data.message);
  };
  if (status === 'revoked') return null;
  return (
    <PasswordDialog
      label={t('certificates.revoke')}
      icon={<IconCertificateOff size={16} />}
      title={t('certificates.revokeTitle', { name })}
      about={t('certificates.revokeAbout')}
      submit={t('certificates.revoke')}
      color="red"
      isAsked={Boolean(user)}
      instead={source?.issuer === 'internal' ? <Text size="sm">{t('certificates.revokeInternal')}</Text> : undefined}
      onSubmit={revoke}
    >
      {() => (
        <NativeSelect
          label={t('certificates.reason')}
          value={reason}
          onChange={({ currentTarget: { value } }) => setReason(value as RevocationReason)}
          data={REASONS.map((value) => ({ value, label: t(`certificates.reasons.${value}`) }))}
        />
      )}
    </PasswordDialog>
  );
};
