import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatDistance, formatNumber } from '../../../i18n/formats.ts';
import { Name } from '../../../ui/name.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';
import type { Facts } from './facts.ts';
import { daysLeft, isInDanger } from './judge.ts';

const SHOWN = 8;

interface Case {
  id: string;
  kind: StateKind;
  word: string;
  name: string;
  why: string;
  to: string;
}

/** Hosts and certificates that somebody has to look at, worst first, each with its reason and a way to it. */
export const Attention = ({ hosts, certificates = [] }: Pick<Facts, 'hosts' | 'certificates'>) => {
  const { t } = useTranslation('system');
  const named = hosts?.attention ?? [];
  const inDanger = certificates.filter(isInDanger);
  const cases: Case[] = [
    ...named
      .filter(({ issue }) => issue !== null)
      .map(({ uuid, domain, issue }) => ({
        id: uuid,
        kind: 'bad' as const,
        word: t('overview.hostIssue'),
        name: domain,
        why: issue ?? '',
        to: `/hosts/${uuid}`,
      })),
    ...inDanger.map((one) => ({
      id: one.uuid,
      kind: one.status === 'failed' || (daysLeft(one) ?? 1) <= 0 ? ('bad' as const) : ('warning' as const),
      word: one.status === 'failed' ? t('overview.orderFailed') : t('overview.certificate'),
      name: one.name,
      why: one.issue ?? (one.expires_at ? t('overview.ends', { when: formatDistance(one.expires_at) }) : ''),
      to: `/certificates/${one.uuid}`,
    })),
    ...named
      .filter(({ issue, warnings }) => issue === null && warnings.length > 0)
      .map(({ uuid, domain, warnings }) => ({
        id: uuid,
        kind: 'warning' as const,
        word: t('overview.hostWarning'),
        name: domain,
        why: warnings.map(({ message }) => message).join(' '),
        to: `/hosts/${uuid}`,
      })),
  ];
  if (cases.length === 0) return null;
  // Of hosts, the first are named; all are counted.
  const more = (hosts ? hosts.with_issue + hosts.with_warnings : 0) + inDanger.length - Math.min(cases.length, SHOWN);
  return (
    <section>
      <Title order={2} mb="xs">
        {t('overview.attention')}
      </Title>
      <Stack gap={6} component="ul" p={0} m={0}>
        {cases.slice(0, SHOWN).map(({ id, kind, word, name, why, to }) => (
          <Group key={id} component="li" gap="sm" align="baseline" style={{ listStyle: 'none' }}>
            <StateBadge kind={kind}>{word}</StateBadge>
            <Anchor component={Link} to={to} size="sm" fw={500} lineClamp={1} maw="100%">
              <Name>{name}</Name>
            </Anchor>
            <Text size="sm" c="dimmed" className="foreign" flex="1 1 16rem" lineClamp={2}>
              {why}
            </Text>
          </Group>
        ))}
      </Stack>
      {more > 0 && (
        <Anchor component={Link} to="/hosts" size="sm">
          {t('overview.andMore', { count: more, shown: formatNumber(more) })}
        </Anchor>
      )}
    </section>
  );
};
