import { Anchor, Stack, Table, Text } from '@mantine/core';
import type { NotificationDeliveries, NotificationDelivery } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';
import { Moment } from '../../../ui/moment.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { WideTable } from '../../../ui/table/wide-table.tsx';

const READ_EVERY_MS = 5_000;
const KINDS = { delivered: 'good', retrying: 'waiting', failed: 'bad' } as const;

const Row = ({ delivery }: { delivery: NotificationDelivery }) => {
  const { t } = useTranslation('protection');
  const { at, channel, event_type, message, reference, state, attempts, error } = delivery;
  const way = t(channel === 'email' ? 'notifications.mail' : 'notifications.webhook');
  return (
    <Table.Tr>
      <Table.Td miw={110} visibleFrom="sm">
        <Moment at={at} />
      </Table.Td>
      <Table.Td>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          <Moment at={at} /> · {way}
        </Text>
        <Text size="sm" fw={500}>
          {t(`notifications.events.${event_type}`)}
        </Text>
        <Text size="xs" c="dimmed" className="foreign" lineClamp={2}>
          {message}
        </Text>
        {reference !== '' && (
          <Anchor component={Link} to={`/blocks/${encodeURIComponent(reference)}`} size="xs" className="foreign">
            {reference}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{way}</Table.Td>
      <Table.Td>
        <Stack gap={2} align="flex-start">
          <StateBadge kind={KINDS[state]}>{t(`notifications.states.${state}`)}</StateBadge>
          {attempts > 1 && (
            <Text size="xs" c="dimmed">
              {t('notifications.attempts', { count: attempts })}
            </Text>
          )}
          {error !== '' && (
            <Text size="xs" className="foreign">
              {error}
            </Text>
          )}
        </Stack>
      </Table.Td>
    </Table.Tr>
  );
};

/** What was sent last, and what became of it. */
export const Deliveries = () => {
  const { t } = useTranslation('protection');
  const path = '/security/notifications/deliveries';
  const { data, error } = useRead<NotificationDeliveries>(path, { everyMs: READ_EVERY_MS });
  return (
    <Panel
      title={t('notifications.last')}
      about={data && t('notifications.lastAbout', { since: formatMoment(data.since) })}
    >
      <Problem error={error} />
      {data && data.queued + data.dropped > 0 && (
        <Text size="sm" role="status">
          {t('notifications.waiting', { queued: formatNumber(data.queued), dropped: formatNumber(data.dropped) })}
        </Text>
      )}
      {data?.deliveries.length === 0 && <Text size="sm">{t('notifications.noneYet')}</Text>}
      {data && data.deliveries.length > 0 && (
        <WideTable
          label={t('notifications.last')}
          minWidth={640}
          notOnPhones={[0, 2]}
          head={[t('notifications.at'), t('notifications.event'), t('notifications.way'), t('notifications.outcome')]}
        >
          {data.deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} />
          ))}
        </WideTable>
      )}
    </Panel>
  );
};
