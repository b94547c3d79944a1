import { Anchor, Table, Text } from '@mantine/core';
import type { CrowdsecStatus } from '@sallyport/contract';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber } from '../../../i18n/formats.ts';
import { Moment } from '../../../ui/moment.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';

/** What CrowdSec has done and does, each with where more of it is. */
export const Facts = ({ status }: { status: CrowdsecStatus }) => {
  const { t } = useTranslation('crowdsec');
  const { pid, version, lapi_ready, decisions, decisions_of_others, last_sync, acquisition, scenarios, traffic } =
    status;
  const isUp = status.status === 'running';
  const rows: [string, ReactNode][] = [
    [
      t('decisions'),
      <>
        <Anchor component={Link} to="/decisions?source=crowdsec" inherit>
          {t('decisionsLink', { count: decisions, shown: formatNumber(decisions) })}
        </Anchor>
        {decisions_of_others > 0 && `, ${t('ofOthers', { shown: formatNumber(decisions_of_others) })}`}
      </>,
    ],
    ...(isUp
      ? ([
          [t('lastSync'), <Moment key="sync" at={last_sync} never={t('neverRead')} />],
          [
            t('scenarios'),
            <Anchor key="scenarios" component={Link} to="/crowdsec/presets" inherit>
              {t('scenariosLink', { count: scenarios.length })}
            </Anchor>,
          ],
          [
            t('traffic'),
            traffic.told ? (
              <>
                {t('trafficTold', { shown: formatNumber(traffic.lines_written) })}
                {traffic.lines_dropped > 0 && (
                  <Text size="sm">{t('dropped', { shown: formatNumber(traffic.lines_dropped) })}</Text>
                )}
                {traffic.lines_unread !== null && traffic.lines_unread > 0 && (
                  <Text size="sm">{t('unread', { shown: formatNumber(traffic.lines_unread) })}</Text>
                )}
              </>
            ) : (
              <StateBadge key="untold" kind="warning">
                {t('notTold')}
              </StateBadge>
            ),
          ],
          [t('reads'), acquisition.length === 0 ? t('readsNothing') : acquisition.join(', ')],
          [
            t('lapi'),
            <StateBadge key="lapi" kind={lapi_ready ? 'good' : 'warning'}>
              {t(lapi_ready ? 'answers' : 'silent')}
            </StateBadge>,
          ],
          [t('process'), pid],
        ] satisfies [string, ReactNode][])
      : []),
    [t('version'), version ?? '–'],
  ];
  return (
    <Panel title={t('facts')}>
      <Table variant="vertical" fz="sm" layout="fixed">
        <Table.Tbody>
          {rows.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w={{ base: 130, sm: 220 }}>{label}</Table.Th>
              <Table.Td className="foreign">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Panel>
  );
};
