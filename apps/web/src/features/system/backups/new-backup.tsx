import { List, PasswordInput, Text } from '@mantine/core';
import type { Backup } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';

/** Makes a backup now, with a passphrase or without. */
export const NewBackup = () => {
  const { t } = useTranslation('system');
  const navigate = useNavigate();
  const { mutateAsync } = useChange<Backup>();
  const object = useObjectForm('new', { passphrase: '' }, ({ passphrase }) =>
    mutateAsync({ method: 'POST', path: '/backups', body: passphrase === '' ? {} : { passphrase } }),
  );
  const close = () => void navigate('/backups');
  return (
    <FormDrawer
      title={t('backups.make')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('backups.isMade'));
        close();
      }}
      object={object}
      action={t('backups.makeNow')}
    >
      <Text size="sm">{t('backups.holds')}</Text>
      <PasswordInput
        label={t('backups.passphrase')}
        description={t('backups.passphraseHint')}
        autoComplete="new-password"
        data-autofocus
        {...object.form.getInputProps('passphrase')}
      />
      <List size="sm" spacing={6}>
        <List.Item>{t('backups.withPassphraseAbout')}</List.Item>
        <List.Item>{t('backups.withKeyAbout')}</List.Item>
      </List>
    </FormDrawer>
  );
};
