import { Anchor, Button, Group, Paper, Text } from '@mantine/core';
import type { BackupCopyTest, DescribedSetting } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useChange, useRead } from '../../../api/query.ts';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';

const storedOf = (settings: readonly DescribedSetting[], key: string): string =>
  settings.find((setting) => setting.key === key)?.value ?? '';

/** Whether backups are made by themselves, kept elsewhere as well, and encrypted; each leads to its setting. */
export const Keeping = () => {
  const { t } = useTranslation('system');
  const { data } = useRead<{ settings: DescribedSetting[] }>('/settings');
  const { mutateAsync, isPending } = useChange<BackupCopyTest>();
  const [notice, setNotice] = useState('');
  if (!data) return null;
  const { settings } = data;
  const schedule = storedOf(settings, 'backup.schedule');
  const place = storedOf(settings, 'backup.copy_url');
  const isEncrypted = settings.some(({ key, is_set }) => key === 'backup.passphrase' && is_set);
  const test = () =>
    mutateAsync({ method: 'POST', path: '/backups/copies/test' }).then(({ data: { copied, error, notice: told } }) => {
      setNotice(told);
      if (copied) notifyDone(t('backups.copyWorks'));
      else notifyFailed(error);
    }, notifyFailed);
  const facts = [
    { key: 'backup.schedule', isOn: schedule !== '', label: t('backups.schedule'), value: schedule },
    { key: 'backup.copy_url', isOn: place !== '', label: t('backups.copies'), value: place },
    { key: 'backup.passphrase', isOn: isEncrypted, label: t('backups.encrypted'), value: '' },
  ];
  return (
    <Paper withBorder p="sm">
      <Group gap="lg">
        {facts.map(({ key, isOn, label, value }) => (
          <Group key={key} gap="xs">
            <Anchor component={Link} to={`/settings#${key}`} size="sm">
              {label}
            </Anchor>
            <StateBadge kind={isOn ? 'good' : 'off'}>{t(isOn ? 'backups.on' : 'backups.off')}</StateBadge>
            {value !== '' && (
              <Text size="sm" c="dimmed" className="foreign" maw={280} lineClamp={1}>
                {value}
              </Text>
            )}
          </Group>
        ))}
        {place !== '' && (
          <Button size="compact-sm" variant="default" loading={isPending} onClick={() => void test()}>
            {t('backups.testCopies')}
          </Button>
        )}
      </Group>
      {notice !== '' && (
        <Text size="sm" mt="xs" role="status" className="foreign">
          {notice}
        </Text>
      )}
    </Paper>
  );
};
