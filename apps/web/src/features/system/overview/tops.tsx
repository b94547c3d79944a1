import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber } from '../../../i18n/formats.ts';

const SHOWN = 6;

/** One of the most frequent, with a way to what was counted where there is one. */
export interface Top {
  name: string;
  count: number;
  monitored: number;
  to?: string;
}

/** The most frequent of one kind. `children` stand in the place of none. */
export const Tops = ({ title, rows, children }: { title: string; rows: readonly Top[]; children?: ReactNode }) => {
  const { t } = useTranslation('system');
  return (
    <Paper withBorder p="sm">
      <Title order={3} size="sm" mb={6}>
        {title}
      </Title>
      <Stack gap={4}>
        {rows.slice(0, SHOWN).map(({ name, count, monitored, to }) => (
          <Group key={name} justify="space-between" wrap="nowrap" gap="xs">
            {to === undefined ? (
              <Text size="sm" className="foreign" lineClamp={1} title={name}>
                {name}
              </Text>
            ) : (
              <Anchor component={Link} to={to} size="sm" className="foreign" lineClamp={1} title={name}>
                {name}
              </Anchor>
            )}
            <Text size="sm" c="dimmed" style={{ flexShrink: 0 }}>
              {[
                ...(count > 0 ? [formatNumber(count)] : []),
                ...(monitored > 0 ? [t('overview.reported', { shown: formatNumber(monitored) })] : []),
              ].join(' + ')}
            </Text>
          </Group>
        ))}
        {rows.length === 0 &&
          (children ?? (
            <Text size="sm" c="dimmed">
              –
            </Text>
          ))}
      </Stack>
    </Paper>
  );
};
