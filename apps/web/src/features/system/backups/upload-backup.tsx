import { FileInput, Paper, PasswordInput, Stack, Text } from '@mantine/core';
import type { Backup } from '@sallyport/contract';
import { type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { IconFileZip } from '../../../ui/icons.ts';
import { notifyDone } from '../../../ui/notify.ts';

interface Typed extends Record<string, unknown> {
  file: File | null;
  passphrase: string;
}

/** Takes a backup that was downloaded elsewhere: chosen, or dropped here. */
export const UploadBackup = () => {
  const { t } = useTranslation('system');
  const navigate = useNavigate();
  const { mutateAsync } = useChange<Backup>();
  const [isOver, setOver] = useState(false);
  const object = useObjectForm<Typed>('upload', { file: null, passphrase: '' }, ({ file, passphrase }) => {
    const body = new FormData();
    // The service reads the fields in their order.
    if (passphrase !== '') body.append('passphrase', passphrase);
    if (file) body.append('file', file, file.name);
    return mutateAsync({ method: 'POST', path: '/backups/upload', body });
  });
  const { form } = object;
  const close = () => void navigate('/backups');
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) form.setFieldValue('file', file);
  };
  return (
    <FormDrawer
      title={t('backups.upload')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('backups.isUploaded'));
        close();
      }}
      object={object}
      action={t('backups.uploadNow')}
    >
      <Paper
        withBorder
        p="md"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        bg={isOver ? 'var(--mantine-primary-color-light)' : 'transparent'}
      >
        <Stack gap="xs">
          <Text size="sm">{t('backups.dropHere')}</Text>
          <FileInput
            label={t('backups.file')}
            placeholder={t('backups.choose')}
            leftSection={<IconFileZip size={17} aria-hidden />}
            clearable
            clearButtonProps={{ 'aria-label': t('backups.clearFile') }}
            {...form.getInputProps('file')}
          />
        </Stack>
      </Paper>
      <PasswordInput
        label={t('backups.passphrase')}
        description={t('backups.uploadHint')}
        autoComplete="off"
        {...form.getInputProps('passphrase')}
      />
    </FormDrawer>
  );
};
