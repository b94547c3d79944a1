import { Anchor, Button } from '@mantine/core';
import type { DnsProvider, DnsProviderType } from '@sallyport/contract';
import { IconPlus } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { Empty } from '../../../ui/empty.tsx';
import { Moment } from '../../../ui/moment.tsx';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { CertificateTabs } from './tabs.tsx';

const uuidOf = ({ uuid }: DnsProvider): string => uuid;

/** Who writes the records that prove names. */
export const DnsProviders = () => {
  const { t } = useTranslation('traffic');
  const navigate = useNavigate();
  const { data, error, refetch } = useRead<DnsProvider[]>('/dns-providers');
  const { data: types } = useRead<DnsProviderType[]>('/dns-providers/types');
  const columns = useMemo<Column<DnsProvider>[]>(
    () => [
      {
        accessorKey: 'name',
        header: t('dnsProviders.name'),
        size: 200,
        meta: { grow: 1, isVital: true },
        cell: ({ row: { original } }) => (
          <Anchor component={Link} to={`/certificates/dns-providers/${original.uuid}`} className="foreign" inherit>
            {original.name}
          </Anchor>
        ),
      },
      {
        id: 'type',
        accessorFn: ({ type }) => types?.find((one) => one.type === type)?.name ?? type,
        header: t('dnsProviders.type'),
        size: 280,
        meta: { grow: 2, isVital: true },
      },
      {
        accessorKey: 'updated_at',
        header: t('dnsProviders.changed'),
        size: 150,
        cell: ({ row: { original } }) => <Moment at={original.updated_at} />,
      },
    ],
    [t, types],
  );
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/certificates/dns-providers/new')}>
      {t('dnsProviders.add')}
    </Button>
  );
  return (
    <Page title={t('certificates.title')} about={t('dnsProviders.about')} actions={data && data.length > 0 && add}>
      <CertificateTabs />
      <Problem error={error} onRetry={() => void refetch()} />
      {data?.length === 0 ? (
        <Empty title={t('dnsProviders.none')} action={add}>
          {t('dnsProviders.noneAbout')}
        </Empty>
      ) : (
        <DataTable
          label={t('certificates.tabs.providers')}
          rows={data ?? []}
          columns={columns}
          rowId={uuidOf}
          empty=""
        />
      )}
      <Outlet />
    </Page>
  );
};
