import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import type { AccessList, ListedCertificate, ProxyHost } from '@sallyport/contract';
import { IconExternalLink, IconKey, IconLock, IconPlugConnected, IconShield } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { Moment } from '../../../ui/moment.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';
import { originOf, siteOf } from './addresses.ts';
import { HostMenu } from './host-menu.tsx';
import { stateOf } from './host-state.ts';
import { HostStateBadge } from './host-state-badge.tsx';

const Domain = ({ host, search }: { host: ProxyHost; search: string }) => {
  const { t } = useTranslation('traffic');
  const [first = '', ...others] = host.domain.split(',');
  const site = siteOf(host);
  return (
    <Group gap={6} wrap="nowrap">
      <RowLink to={{ pathname: `/hosts/${host.uuid}`, search }} name={first} />
      {others.length > 0 && (
        <Tooltip label={<span className="foreign">{others.slice(0, 20).join(', ')}</span>} multiline maw={420}>
          <Text span size="xs" c="dimmed" flex="none">
            +{others.length}
          </Text>
        </Tooltip>
      )}
      {site !== undefined && (
        <ActionIcon
          visibleFrom="sm"
          component="a"
          href={site}
          target="_blank"
          rel="noreferrer"
          size="sm"
          variant="subtle"
          color="gray"
          aria-label={t('hosts.visit', { name: first })}
        >
          <IconExternalLink size={14} aria-hidden />
        </ActionIcon>
      )}
    </Group>
  );
};

const SIGNS = [
  { feature: 'forced', icon: IconLock, has: (host: ProxyHost) => host.ssl_forced },
  { feature: 'firewall', icon: IconShield, has: (host: ProxyHost) => host.waf_enabled },
  { feature: 'accessList', icon: IconKey, has: (host: ProxyHost) => host.access_list_id !== null },
  { feature: 'websocket', icon: IconPlugConnected, has: (host: ProxyHost) => host.websocket_support },
] as const;

/** What a host has, a sign each in a place of its own, so that a column of them can be compared. */
const Features = ({ host, list }: { host: ProxyHost; list: string | undefined }) => {
  const { t } = useTranslation('traffic');
  return (
    <Group gap={8} wrap="nowrap">
      {SIGNS.map(({ feature, icon: Icon, has }) => {
        const isThere = has(host);
        const name = t(`hosts.${isThere ? 'features' : 'lacks'}.${feature}`);
        const label = isThere && feature === 'accessList' && list !== undefined ? `${name}: ${list}` : name;
        return (
          <span key={feature} title={label} role="img" aria-label={label} style={{ opacity: isThere ? 1 : 0.2 }}>
            <Icon size={16} aria-hidden style={{ display: 'block' }} />
          </span>
        );
      })}
    </Group>
  );
};

const namesById = (all: readonly { id: number; name: string }[] | undefined): ReadonlyMap<number, string> =>
  new Map(all?.map(({ id, name }) => [id, name]));

/** The columns of the list of hosts, and which of them can be hidden. */
export const useHostColumns = () => {
  const { t } = useTranslation('traffic');
  const [query] = useSearchParams();
  const search = query.toString();
  const certificates = useRead<ListedCertificate[]>('/certificates').data;
  const lists = useRead<AccessList[]>('/access-lists').data;
  return useMemo(() => {
    const certificateNames = namesById(certificates);
    const listNames = namesById(lists);
    const certificateOf = ({ certificate_id, auto_certificate }: ProxyHost): string => {
      if (certificate_id !== null) return certificateNames.get(certificate_id) ?? String(certificate_id);
      return t(auto_certificate ? 'hosts.certificateAuto' : 'hosts.certificateMatch');
    };
    const optional = {
      name: t('hosts.fields.name.label'),
      origin: t('hosts.origin'),
      certificate: t('hosts.certificate'),
      features: t('hosts.hasFeatures'),
      updated_at: t('hosts.changedAt'),
      created_at: t('hosts.createdAt'),
    };
    const columns: Column<ProxyHost>[] = [
      {
        accessorKey: 'domain',
        header: t('hosts.domain'),
        size: 200,
        sortingFn: 'basic',
        meta: { grow: 3, isVital: true },
        cell: ({ row: { original } }) => <Domain host={original} search={search} />,
      },
      {
        accessorKey: 'name',
        header: optional.name,
        size: 140,
        sortingFn: 'basic',
        meta: { grow: 1 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        id: 'origin',
        accessorFn: originOf,
        header: optional.origin,
        size: 170,
        sortingFn: 'basic',
        meta: { grow: 2 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        id: 'state',
        accessorFn: stateOf,
        header: t('hosts.state'),
        size: 155,
        sortingFn: 'basic',
        meta: { isVital: true, narrow: 124 },
        cell: ({ row: { original } }) => <HostStateBadge host={original} />,
      },
      {
        id: 'certificate',
        accessorFn: certificateOf,
        header: optional.certificate,
        size: 110,
        sortingFn: 'basic',
        meta: { grow: 1 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        id: 'features',
        header: optional.features,
        size: 120,
        enableSorting: false,
        cell: ({ row: { original } }) => (
          <Features
            host={original}
            list={original.access_list_id === null ? undefined : listNames.get(original.access_list_id)}
          />
        ),
      },
      {
        accessorKey: 'updated_at',
        header: optional.updated_at,
        size: 132,
        sortingFn: 'basic',
        cell: ({ getValue }) => <Moment at={getValue<string>()} />,
      },
      {
        accessorKey: 'created_at',
        header: optional.created_at,
        size: 120,
        sortingFn: 'basic',
        cell: ({ getValue }) => <Moment at={getValue<string>()} />,
      },
      {
        id: 'actions',
        header: '',
        size: 52,
        enableSorting: false,
        meta: { isVital: true },
        cell: ({ row: { original } }) => <HostMenu host={original} />,
      },
    ];
    return { columns, hideable: Object.entries(optional).map(([id, label]) => ({ id, label })) };
  }, [t, search, certificates, lists]);
};
