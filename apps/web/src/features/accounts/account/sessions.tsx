import { Button, Group, Table, Text } from '@mantine/core';
import type { Session } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useChange, useRead } from '../../../api/query.ts';
import { Moment } from '../../../ui/moment.tsx';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { WideTable } from '../../../ui/table/wide-table.tsx';
import { browserName } from './browser-name.ts';

/** Where else one is signed in, each to be ended. */
export const Sessions = () => {
  const { t } = useTranslation('accounts');
  const { data = [], error, refetch } = useRead<Session[]>('/auth/sessions');
  const { mutateAsync, isPending } = useChange(['/auth/sessions']);
  const nameOf = ({ user_agent }: Session) => browserName(user_agent) || t('account.sessions.unknown');
  const end = (sessions: readonly Session[], told: string) =>
    Promise.all(sessions.map(({ id }) => mutateAsync({ method: 'DELETE', path: `/auth/sessions/${id}` }))).then(
      () => notifyDone(told),
      notifyFailed,
    );
  const others = data.filter(({ is_current }) => !is_current);
  const sorted = [...data.filter(({ is_current }) => is_current), ...others];
  return (
    <Section title={t('account.sessions.title')} about={t('account.sessions.about')}>
      <Problem error={error} onRetry={() => void refetch()} />
      <WideTable
        label={t('account.sessions.title')}
        minWidth={560}
        head={[
          t('account.sessions.device'),
          t('account.sessions.from'),
          t('account.sessions.seen'),
          t('account.sessions.since'),
          null,
        ]}
      >
        {sorted.map((session) => (
          <Table.Tr key={session.id}>
            <Table.Td maw={320}>
              <Text size="sm" lineClamp={2} className="foreign" title={session.user_agent}>
                {nameOf(session)}
              </Text>
            </Table.Td>
            <Table.Td className="foreign">{session.ip}</Table.Td>
            <Table.Td>
              <Moment at={session.last_seen_at} />
            </Table.Td>
            <Table.Td>
              <Moment at={session.created_at} />
            </Table.Td>
            <Table.Td ta="right">
              {session.is_current ? (
                <StateBadge kind="good">{t('account.sessions.current')}</StateBadge>
              ) : (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t('account.sessions.endOf', { what: nameOf(session) })}
                  disabled={isPending}
                  onClick={() => void end([session], t('account.sessions.ended'))}
                >
                  {t('account.sessions.end')}
                </Button>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </WideTable>
      {others.length > 1 && (
        <Group justify="flex-end">
          <Button
            variant="default"
            loading={isPending}
            onClick={() => void end(others, t('account.sessions.endedOthers'))}
          >
            {t('account.sessions.endOthers')}
          </Button>
        </Group>
      )}
    </Section>
  );
};
