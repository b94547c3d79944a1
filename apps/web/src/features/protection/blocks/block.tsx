import { Anchor, Button, Code, Divider, Group, Loader, Stack, Table, Text, Title } from '@mantine/core';
import type { Block as BlockOf } from '@sallyport/contract';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { formatMoment } from '../../../i18n/formats.ts';
import { Empty } from '../../../ui/empty.tsx';
import { Name } from '../../../ui/name.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { Side } from '../../../ui/side.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { Allow } from './allow.tsx';
import { Marked, readable } from './marked.tsx';

const cureOf = ({ layer, host_uuid, ip }: BlockOf): string | undefined => {
  switch (layer) {
    case 'decision':
      return `/decisions?search=${encodeURIComponent(ip)}`;
    case 'rate_limit':
    case 'guard':
      return '/security';
    case 'acl':
      return '/access-lists';
    case 'exploit':
    case 'websocket':
      return host_uuid === null ? undefined : `/hosts/${host_uuid}`;
    case 'waf':
      return undefined;
    default:
      return layer satisfies never;
  }
};

const Explanation = ({ block }: { block: BlockOf }) => {
  const { t } = useTranslation('protection');
  // What rules count is no part of the request.
  const found = block.matches.filter(({ variable }) => !variable.startsWith('TX:'));
  const values = found.map(({ value }) => value).filter((value) => value.length > 1);
  const cure = cureOf(block);
  const rows: [string, ReactNode][] = [
    [t('blocks.what'), <Marked key="what" text={`${block.method} ${readable(block.request_uri)}`} pieces={values} />],
    [
      t('blocks.host'),
      block.host_uuid === null ? (
        <Name key="host">{block.host}</Name>
      ) : (
        <Anchor key="host" component={Link} to={`/hosts/${block.host_uuid}`} inherit>
          <Name>{block.host}</Name>
        </Anchor>
      ),
    ],
    [t('blocks.visitor'), block.ip],
    [t('blocks.program'), block.user_agent],
    [t('blocks.when'), formatMoment(block.timestamp)],
    [t('blocks.status'), block.status],
    [t('blocks.reason'), block.reason],
    [t('blocks.reference'), block.reference],
  ];
  return (
    <Stack>
      <Group gap="xs">
        <StateBadge kind={block.monitored ? 'warning' : 'bad'}>
          {t(block.monitored ? 'blocks.monitored' : 'blocks.refused')}
        </StateBadge>
        <Text fw={600}>{t(`blocks.layer.${block.layer}`)}</Text>
      </Group>
      <Text size="sm">{t(`blocks.why.${block.layer}`)}</Text>
      {block.monitored && <Text size="sm">{t('blocks.monitoredAbout')}</Text>}
      {block.matches.length > 0 && (
        <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('blocks.matched')}>
          {block.matches.map((match) => (
            <li key={`${match.rule_id} ${match.variable}`}>
              <Text size="sm" fw={500} className="foreign">
                {t('blocks.rule')} {match.rule_id}: {match.message}
              </Text>
              <Code block className="foreign" style={{ whiteSpace: 'pre-wrap' }}>
                {match.variable} = <Marked text={match.value} pieces={found.includes(match) ? [match.value] : []} />
              </Code>
            </li>
          ))}
        </Stack>
      )}
      <Table variant="vertical" fz="sm" layout="fixed">
        <Table.Tbody>
          {rows
            .filter(([, value]) => value !== '')
            .map(([label, value]) => (
              <Table.Tr key={label}>
                <Table.Th w={120}>{label}</Table.Th>
                <Table.Td className="foreign">{value}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
      <Divider />
      <Title order={2}>{t('blocks.allow')}</Title>
      {block.exclusions.length > 0 ? (
        <Allow key={block.reference} block={block} />
      ) : (
        <Stack align="flex-start">
          <Text size="sm">{t('blocks.nothingToAllow')}</Text>
          {cure !== undefined && block.layer !== 'waf' && (
            <Button component={Link} to={cure} variant="default">
              {t(`blocks.cure.${block.layer}`)}
            </Button>
          )}
        </Stack>
      )}
    </Stack>
  );
};

/** Why one request was refused, and how to allow its like: what the address of the screen names. */
export const Block = () => {
  const { t } = useTranslation(['protection', 'common']);
  const { reference = '' } = useParams();
  const navigate = useNavigate();
  const { data, error, isLoading } = useRead<BlockOf>(`/security/blocks/${encodeURIComponent(reference)}`);
  return (
    <Side
      title={t(data?.monitored ? 'blocks.explainedReport' : 'blocks.explained')}
      size="xl"
      onClose={() => void navigate('/blocks')}
    >
      {isLoading && <Loader aria-label={t('common:loading')} />}
      {error?.status === 404 ? (
        <Empty title={t('blocks.notKnown')}>{t('blocks.notKnownAbout')}</Empty>
      ) : (
        <Problem error={error} />
      )}
      {data && !error && <Explanation block={data} />}
    </Side>
  );
};
