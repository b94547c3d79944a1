import { Button } from '@mantine/core';
import type { DnsProvider, DnsProviderType } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { IconPlus } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';
import { CertificateTabs } from './tabs.tsx';

const uuidOf = ({ uuid }: DnsProvider): string => uuid;

/** Who writes the records that prove names. */
export const DnsProviders = () => {
  const { t } = useTranslation('traffic');
  const navigate = useNavigate();
  const list = useRead<DnsProvider[]>('/dns-providers');
  const { data: types } = useRead<DnsProviderType[]>('/dns-providers/types');
  const columns = useMemo<Column<DnsProvider>[]>(
    () => [
      {
        accessorKey: 'name',
        header: t('dnsProviders.name'),
        size: 200,
        meta: { grow: 1, isVital: true },
        cell: ({ row: { original } }) => (
          <RowLink to={`/certificates/dns-providers/${original.uuid}`} name={original.name} />
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
    <ListPage
      title={t('certificates.title')}
      about={t('dnsProviders.about')}
      actions={add}
      above={<CertificateTabs />}
      list={list}
      none={{ title: t('dnsProviders.none'), about: t('dnsProviders.noneAbout') }}
      label={t('certificates.tabs.providers')}
      columns={columns}
      rowId={uuidOf}
    />
  );
};
