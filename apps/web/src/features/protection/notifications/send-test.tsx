import { Button, Group, Stack, Text } from '@mantine/core';
import type { NotificationTest } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';

/** What became of a test, by each way. */
const Outcome = ({ label, outcome }: { label: string; outcome: NotificationTest['webhook'] }) => {
  const { t } = useTranslation('protection');
  const kind = outcome.attempted ? (outcome.delivered ? 'good' : 'bad') : 'off';
  const word = {
    good: 'notifications.delivered',
    bad: 'notifications.failed',
    off: 'notifications.notAttempted',
  } as const;
  return (
    <Group gap="xs">
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <StateBadge kind={kind}>{t(word[kind])}</StateBadge>
      {outcome.error !== '' && (
        <Text size="sm" className="foreign">
          {outcome.error}
        </Text>
      )}
    </Group>
  );
};

/** Sends one event by what is saved, and tells what came of it. */
export const SendTest = ({ isDirty }: { isDirty: boolean }) => {
  const { t } = useTranslation('protection');
  const { mutate, data, error, isPending } = useChange<NotificationTest>(['/security/notifications/deliveries']);
  return (
    <Panel title={t('notifications.test')} about={t(isDirty ? 'notifications.saveFirst' : 'notifications.testAbout')}>
      <Group>
        <Button
          variant="default"
          loading={isPending}
          disabled={isDirty}
          onClick={() => mutate({ method: 'POST', path: '/security/notifications/test' })}
        >
          {t('notifications.test')}
        </Button>
      </Group>
      <Problem error={error} />
      {data && (
        <Stack gap="xs" role="status">
          <Outcome label={t('notifications.webhook')} outcome={data.data.webhook} />
          <Outcome label={t('notifications.mail')} outcome={data.data.email} />
        </Stack>
      )}
    </Panel>
  );
};
