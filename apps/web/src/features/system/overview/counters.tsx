import { Group, Paper, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../api/query.ts';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';

const EVERY_MS = 15_000;

/** The sum of a metric over its labels; undefined when the text does not have it. */
const sumOf = (text: string, name: string): number | undefined => {
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
};

const COUNTED = {
  judged: 'svc_waf_requests_total',
  refused: 'svc_waf_blocked_total',
  monitored: 'svc_waf_monitored_total',
  denied: 'sallyport_access_denied_total',
  unjudged: 'sallyport_proxy_unjudged_total',
} as const;

/** What the service counted since it was started, and what it does not keep. */
export const Counters = () => {
  const { t } = useTranslation('system');
  const { data } = useRead<string>('/metrics', { everyMs: EVERY_MS });
  if (data === undefined) return null;
  const started = sumOf(data, 'process_start_time_seconds');
  const counts = Object.entries(COUNTED) as [keyof typeof COUNTED, string][];
  return (
    <section>
      <Title order={2} mb="xs">
        {t('overview.counters')}
      </Title>
      <Group gap="sm" align="stretch">
        {counts.map(([name, metric]) => {
          const count = sumOf(data, metric);
          if (count === undefined) return null;
          return (
            <Paper key={name} withBorder p="sm" flex="1 1 9rem">
              <Text size="xl" fw={600}>
                {formatNumber(count)}
              </Text>
              <Text size="sm" c="dimmed">
                {t(`overview.counted.${name}`)}
              </Text>
            </Paper>
          );
        })}
      </Group>
      <Text size="xs" c="dimmed" mt="xs">
        {started !== undefined &&
          t('overview.countedSince', { from: formatMoment(new Date(started * 1_000).toISOString()) })}{' '}
        {t('overview.notKept')}
      </Text>
    </section>
  );
};
