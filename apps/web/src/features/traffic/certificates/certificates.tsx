import { Button, Group } from '@mantine/core';
import type { ListedCertificate } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { IconCertificate, IconUpload } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';
import { CertificateBadge, stateOf } from './certificate-state.tsx';
import { CertificateTabs } from './tabs.tsx';

/** How often the list is read again: what is ordered here or for a host comes by itself. */
const EVERY_MS = 5_000;

const uuidOf = ({ uuid }: ListedCertificate): string => uuid;
const textOf = ({ name, domains, provider, source, issue }: ListedCertificate): string =>
  [name, domains, provider, source?.account, source?.dns_provider, issue].join(' ');

/** What hosts prove their names with. One of them, an order and an upload are beside the list, at addresses of their own. */
export const Certificates = () => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const list = useRead<ListedCertificate[]>('/certificates', { everyMs: EVERY_MS });

  const columns = useMemo<Column<ListedCertificate>[]>(
    () => [
      {
        accessorKey: 'name',
        header: t('certificates.name'),
        size: 190,
        meta: { grow: 2, isVital: true },
        cell: ({ row: { original } }) => <RowLink to={`/certificates/${original.uuid}`} name={original.name} />,
      },
      {
        id: 'names',
        accessorFn: ({ domains }) => domains.split(',').join(', '),
        header: t('certificates.names'),
        size: 200,
        meta: { grow: 3 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        id: 'issuer',
        accessorFn: ({ provider, source }) => source?.account ?? t(`certificates.from.${provider}`),
        header: t('certificates.issuer'),
        size: 150,
        meta: { grow: 1 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        id: 'state',
        accessorFn: (row) => stateOf(row, row.used_by_total),
        header: t('certificates.state'),
        size: 140,
        meta: { isVital: true },
        cell: ({ row: { original } }) => <CertificateBadge certificate={original} uses={original.used_by_total} />,
      },
      {
        accessorKey: 'expires_at',
        header: t('certificates.expires'),
        size: 120,
        cell: ({ row: { original } }) => <Moment at={original.expires_at} />,
      },
      {
        accessorKey: 'renew_after',
        header: t('certificates.renewal'),
        size: 150,
        cell: ({ row: { original } }) => <Moment at={original.renew_after} />,
      },
      {
        accessorKey: 'used_by_total',
        header: t('certificates.uses'),
        size: 80,
        cell: ({ getValue }) => formatNumber(getValue<number>()),
      },
    ],
    [t],
  );

  const add = isAdmin && (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<IconUpload size={16} />}
        onClick={() => void navigate('/certificates/upload')}
      >
        {t('certificates.upload')}
      </Button>
      <Button leftSection={<IconCertificate size={16} />} onClick={() => void navigate('/certificates/order')}>
        {t('certificates.order')}
      </Button>
    </Group>
  );
  return (
    <ListPage
      title={t('certificates.title')}
      about={t('certificates.about')}
      actions={add}
      above={<CertificateTabs />}
      list={list}
      none={{ title: t('certificates.none'), about: t('certificates.noneAbout') }}
      columns={columns}
      rowId={uuidOf}
      textOf={textOf}
    />
  );
};
