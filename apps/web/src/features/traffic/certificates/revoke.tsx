import { Button, Group, Modal, NativeSelect, PasswordInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { CertificateInUse, RevocationReason, RevokedCertificate } from '@sallyport/contract';
import { IconCertificateOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { notifyDone } from '../../../ui/notify.ts';

const REASONS: readonly RevocationReason[] = [
  ...(['unspecified', 'key_compromise', 'superseded'] as const),
  ...(['affiliation_changed', 'cessation_of_operation'] as const),
];

/** Asks, says what happens, and has an ordered certificate revoked; of the internal authority: says what can be done instead. */
export const Revoke = ({ certificate: { uuid, name, source, status } }: { certificate: CertificateInUse }) => {
  const { t } = useTranslation(['traffic', 'common']);
  const { user } = useWho();
  const [isOpen, { open, close }] = useDisclosure();
  const [reason, setReason] = useState<RevocationReason>('unspecified');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error>();
  const { mutateAsync, isPending } = useChange<RevokedCertificate>();
  const isInternal = source?.issuer === 'internal';
  const shut = () => {
    setPassword('');
    setError(undefined);
    close();
  };
  const revoke = async () => {
    setError(undefined);
    try {
      const body = user ? { reason, password } : { reason };
      const { data } = await mutateAsync({ method: 'POST', path: `/certificates/${uuid}/revoke`, body });
      notifyDone(data.message);
      shut();
    } catch (failure) {
      setError(failure as Error);
    }
  };
  if (status === 'revoked') return null;
  return (
    <>
      <Button variant="default" leftSection={<IconCertificateOff size={16} />} onClick={open}>
        {t('certificates.revoke')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={shut}
        title={t('certificates.revokeTitle', { name })}
        centered
        closeButtonProps={{ 'aria-label': t('common:close') }}
      >
        {isInternal ? (
          <Text size="sm">{t('certificates.revokeInternal')}</Text>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              event.stopPropagation();
              void revoke();
            }}
          >
            <Stack>
              <Text size="sm">{t('certificates.revokeAbout')}</Text>
              <NativeSelect
                label={t('certificates.reason')}
                value={reason}
                onChange={({ currentTarget: { value } }) => setReason(value as RevocationReason)}
                data={REASONS.map((value) => ({ value, label: t(`certificates.reasons.${value}`) }))}
              />
              {user && (
                <PasswordInput
                  label={t('certificates.password')}
                  autoComplete="current-password"
                  required
                  value={password}
                  onChange={({ currentTarget: { value } }) => setPassword(value)}
                />
              )}
              {error && (
                <Text size="sm" c="red" role="alert" className="foreign">
                  {error.message}
                </Text>
              )}
              <Group justify="flex-end">
                <Button variant="default" onClick={shut}>
                  {t('common:cancel')}
                </Button>
                <Button type="submit" color="red" loading={isPending}>
                  {t('certificates.revoke')}
                </Button>
              </Group>
            </Stack>
          </form>
        )}
      </Modal>
    </>
  );
};
