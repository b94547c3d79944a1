import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { saveText } from '../../../ui/save-text.ts';

/** Hands out a certificate with its key, for the password of who asks. Neither is kept anywhere here. */
export const KeyDownload = ({ uuid, name }: { uuid: string; name: string }) => {
  const { t } = useTranslation(['traffic', 'common']);
  const [isOpen, { open, close }] = useDisclosure();
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error>();
  const { mutateAsync, isPending } = useChange<string>([]);
  const shut = () => {
    setPassword('');
    setError(undefined);
    close();
  };
  const download = async () => {
    setError(undefined);
    try {
      const path = `/certificates/${uuid}/download`;
      const { data, headers } = await mutateAsync({ method: 'POST', path, body: { password } });
      const [, file] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
      saveText(file ?? `${name}.pem`, data, 'application/x-pem-file');
      shut();
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <>
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={open}>
        {t('certificates.downloadKey')}
      </Button>
      <Modal opened={isOpen} onClose={shut} title={t('certificates.downloadKey')} centered>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            event.stopPropagation();
            void download();
          }}
        >
          <Stack>
            <Text size="sm">{t('certificates.downloadKeyAbout')}</Text>
            <PasswordInput
              label={t('certificates.password')}
              autoComplete="current-password"
              required
              data-autofocus
              value={password}
              error={error?.message}
              onChange={({ currentTarget: { value } }) => setPassword(value)}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={shut}>
                {t('common:cancel')}
              </Button>
              <Button type="submit" loading={isPending}>
                {t('certificates.download')}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
};
