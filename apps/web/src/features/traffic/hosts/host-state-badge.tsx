import { Group, Text, Tooltip } from '@mantine/core';
import type { ProxyHost } from '@sallyport/contract';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';
import { type HostState, stateOf } from './host-state.ts';

const KINDS: Readonly<Record<HostState, StateKind>> = {
  live: 'good',
  waiting: 'waiting',
  unserved: 'bad',
  disabled: 'off',
};

/** What the proxy makes of a host, with the reason, and what it will not do although its fields say so. */
export const HostStateBadge = ({ host }: { host: ProxyHost }) => {
  const { t } = useTranslation('traffic');
  const state = stateOf(host);
  const { warnings } = host;
  return (
    <Group gap={6} wrap="nowrap">
      <StateBadge kind={KINDS[state]} why={host.issue ?? t(`hosts.why.${state}`)}>
        {t(`hosts.states.${state}`)}
      </StateBadge>
      {warnings.length > 0 && (
        <Tooltip
          multiline
          maw={420}
          events={{ hover: true, focus: true, touch: true }}
          label={warnings.map(({ field, message }) => <div key={`${field} ${message}`}>{message}</div>)}
        >
          <Text
            span
            visibleFrom="sm"
            size="xs"
            c="var(--warning-text)"
            tabIndex={0}
            role="img"
            aria-label={t('hosts.warnings', { count: warnings.length })}
            style={{ whiteSpace: 'nowrap' }}
          >
            <IconAlertTriangle size={15} aria-hidden style={{ verticalAlign: 'text-bottom' }} /> {warnings.length}
          </Text>
        </Tooltip>
      )}
    </Group>
  );
};
