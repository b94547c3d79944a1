import { Group, Loader, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import type { CrowdsecStatus } from '@sallyport/contract';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconCheck } from '../../../ui/icons.ts';

const SECOND_MS = 1_000;

/** How far a start is, and for how long it has been going on. */
export const Starting = ({ status }: { status: CrowdsecStatus }) => {
  const { t } = useTranslation('crowdsec');
  const [seconds, setSeconds] = useState(0);
  const { start, stop } = useInterval(() => setSeconds((before) => before + 1), SECOND_MS);
  useEffect(() => {
    start();
    return stop;
  }, [start, stop]);
  const steps = [
    { name: 'process', isDone: status.pid !== null },
    { name: 'lapi', isDone: status.lapi_ready },
    { name: 'reading', isDone: status.acquisition.length > 0 },
  ] as const;
  return (
    <Stack gap="xs">
      <Stack component="ol" gap={4} m={0} p={0} style={{ listStyle: 'none' }} aria-label={t('steps.title')}>
        {steps.map(({ name, isDone }) => (
          <Group component="li" key={name} gap="xs" c={isDone ? 'inherit' : 'dimmed'} data-done={isDone || undefined}>
            {isDone ? <IconCheck size={16} aria-hidden /> : <Loader size={16} aria-hidden />}
            <Text size="sm">{t(`steps.${name}`)}</Text>
          </Group>
        ))}
      </Stack>
      <Text size="sm" c="dimmed">
        {t('starting', { seconds })}
      </Text>
    </Stack>
  );
};
