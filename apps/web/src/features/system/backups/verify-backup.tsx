import { Code, PasswordInput, Text } from '@mantine/core';
import type { BackupReport } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { ApiError } from '../../../api/api-error.ts';
import { useChange } from '../../../api/query.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';

/** Reads a backup that has a passphrase from end to end, and says what is wrong with it. */
export const VerifyBackup = () => {
  const { t } = useTranslation('system');
  const { name = '' } = useParams();
  const navigate = useNavigate();
  const { mutateAsync } = useChange<BackupReport>();
  const object = useObjectForm(name, { passphrase: '' }, async ({ passphrase }) => {
    const path = `/backups/${encodeURIComponent(name)}/verify`;
    const { data } = await mutateAsync({ method: 'POST', path, body: passphrase === '' ? {} : { passphrase } });
    // What is wrong with the file is an answer like a refusal: the passphrase that was typed stays, and another one may be tried.
    if (!data.valid) throw new ApiError(422, { error: data.problems.join(' ') });
  });
  const close = () => void navigate('/backups');
  return (
    <FormDrawer
      title={t('backups.verify')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('backups.isValid', { name }));
        close();
      }}
      object={object}
      action={t('backups.verify')}
    >
      <Text size="sm" className="foreign">
        {t('backups.verifyAbout')} <Code>{name}</Code>
      </Text>
      <PasswordInput
        label={t('backups.passphrase')}
        description={t('backups.restoreHint')}
        autoComplete="off"
        data-autofocus
        {...object.form.getInputProps('passphrase')}
      />
    </FormDrawer>
  );
};
