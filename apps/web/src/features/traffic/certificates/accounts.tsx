import { Button } from '@mantine/core';
import type { AcmeAccount } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconPlus } from '../../../ui/icons.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';
import { CertificateTabs } from './tabs.tsx';

const uuidOf = ({ uuid }: AcmeAccount): string => uuid;

/** With whom certificates are ordered. */
export const Accounts = () => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const list = useRead<AcmeAccount[]>('/acme/accounts');
  const columns = useMemo<Column<AcmeAccount>[]>(
    () => [
      {
        accessorKey: 'name',
        header: t('accounts.name'),
        size: 180,
        meta: { grow: 1, isVital: true },
        cell: ({ row: { original } }) => (
          <RowLink to={`/certificates/accounts/${original.uuid}`} name={original.name} />
        ),
      },
      {
        accessorKey: 'directory_url',
        header: t('accounts.authority'),
        size: 280,
        meta: { grow: 2 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        accessorKey: 'email',
        header: t('accounts.email'),
        size: 200,
        meta: { grow: 1 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      {
        accessorKey: 'registered',
        header: t('accounts.state'),
        size: 140,
        meta: { isVital: true },
        cell: ({ row: { original } }) =>
          original.registered ? (
            <StateBadge kind="good">{t('accounts.registered')}</StateBadge>
          ) : (
            <StateBadge kind="bad">{t('accounts.unregistered')}</StateBadge>
          ),
      },
    ],
    [t],
  );
  const add = isAdmin && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/certificates/accounts/new')}>
      {t('accounts.add')}
    </Button>
  );
  return (
    <ListPage
      title={t('certificates.title')}
      about={t('accounts.about')}
      actions={add}
      above={<CertificateTabs />}
      list={list}
      none={{ title: t('accounts.none'), about: t('accounts.noneAbout') }}
      label={t('certificates.tabs.accounts')}
      columns={columns}
      rowId={uuidOf}
    />
  );
};
