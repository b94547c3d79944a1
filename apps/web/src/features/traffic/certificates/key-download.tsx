import { PasswordInput, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { IconKey } from '../../../ui/icons.ts';
import { saveBlob, saveText } from '../../../ui/save-text.ts';
import { PasswordDialog } from './password-dialog.tsx';

const isOfFile = (error: Error): boolean => error.message.startsWith('pkcs12_password');

/** Hands out a certificate with its key, for the password of who asks. Neither is kept anywhere here. */
export const KeyDownload = ({ uuid, name }: { uuid: string; name: string }) => {
  const { t } = useTranslation('traffic');
  const [form, setForm] = useState<'pem' | 'pkcs12'>('pem');
  const [filePassword, setFilePassword] = useState('');
  const { mutateAsync } = useChange<string | Blob>([]);
  const download = async (password: string) => {
    const path = `/certificates/${uuid}/download`;
    const body = { password, ...(form === 'pkcs12' && { pkcs12_password: filePassword }) };
    const { data, headers } = await mutateAsync({ method: 'POST', path, body });
    const [, file] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
    if (typeof data === 'string') saveText(file ?? `${name}.pem`, data, 'application/x-pem-file');
    else saveBlob(file ?? `${name}.p12`, data);
  };
  return (
    <PasswordDialog
      label={t('certificates.downloadKey')}
      icon={<IconKey size={16} />}
      title={t('certificates.downloadKey')}
      about={t('certificates.downloadKeyAbout')}
      submit={t('certificates.download')}
      onSubmit={download}
      onShut={() => setFilePassword('')}
      isShownByField={isOfFile}
    >
      {(error) => (
        <>
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
              error={error && isOfFile(error) && error.message}
              onChange={({ currentTarget: { value } }) => setFilePassword(value)}
            />
          )}
        </>
      )}
    </PasswordDialog>
  );
};
