import { Button, Group, Modal, PasswordInput, Radio, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { saveBlob, saveText } from '../../../ui/save-text.ts';

/** Hands out a certificate with its key, for the password of who asks. Neither is kept anywhere here. */
export const KeyDownload = ({ uuid, name }: { uuid: string; name: string }) => {
  const { t } = useTranslation(['traffic', 'common']);
  const [isOpen, { open, close }] = useDisclosure();
  const [password, setPassword] = useState('');
  const [form, setForm] = useState<'pem' | 'pkcs12'>('pem');
  const [filePassword, setFilePassword] = useState('');
  const [error, setError] = useState<Error>();
  const { mutateAsync, isPending } = useChange<string | Blob>([]);
  const shut = () => {
    setPassword('');
    setFilePassword('');
    setError(undefined);
    close();
  };
  const download = async () => {
    setError(undefined);
    try {
      const path = `/certificates/${uuid}/download`;
      const body = { password, ...(form === 'pkcs12' && { pkcs12_password: filePassword }) };
      const { data, headers } = await mutateAsync({ method: 'POST', path, body });
      const [, file] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
      if (typeof data === 'string') saveText(file ?? `${name}.pem`, data, 'application/x-pem-file');
      else saveBlob(file ?? `${name}.p12`, data);
      shut();
    } catch (failure) {
      setError(failure as Error);
    }
  };
  const isOfFile = error?.message.startsWith('pkcs12_password') === true;
  return (
    <>
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={open}>
        {t('certificates.downloadKey')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={shut}
        title={t('certificates.downloadKey')}
        centered
        closeButtonProps={{ 'aria-label': t('common:close') }}
      >
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
              error={isOfFile ? undefined : error?.message}
              onChange={({ currentTarget: { value } }) => setPassword(value)}
            />
            <Radio.Group
              label={t('certificates.form')}
              value={form}
              onChange={(value) => setForm(value === 'pkcs12' ? 'pkcs12' : 'pem')}
            >
              <Stack gap={4} mt={4}>
                <Radio value="pem" label={t('certificates.forms.pem')} />
                <Radio value="pkcs12" label={t('certificates.forms.pkcs12')} />
              </Stack>
            </Radio.Group>
            {form === 'pkcs12' && (
              <PasswordInput
                label={t('certificates.filePassword')}
                description={t('certificates.filePasswordHint')}
                autoComplete="new-password"
                required
                value={filePassword}
                error={isOfFile && error?.message}
                onChange={({ currentTarget: { value } }) => setFilePassword(value)}
              />
            )}
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
