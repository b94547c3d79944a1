import { Button } from '@mantine/core';
import type { ApiToken } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange, useRead } from '../../../api/query.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { IconPlus } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';

const idOf = ({ id }: ApiToken): string => String(id);
const textOf = ({ name, owner, hint, role }: ApiToken): string => `${name} ${owner} ${hint} ${role}`;

/** API tokens of all users. */
export const Tokens = () => {
  const { t } = useTranslation(['accounts', 'common']);
  const navigate = useNavigate();
  const list = useRead<ApiToken[]>('/tokens');
  const { mutateAsync } = useChange(['/tokens']);
  const columns = useMemo<Column<ApiToken>[]>(() => {
    const revoke = async ({ id, name }: ApiToken) => {
      await mutateAsync({ method: 'DELETE', path: `/tokens/${id}` });
      notifyDone(t('tokens.revoked', { name }));
    };
    return [
      {
        accessorKey: 'name',
        header: t('tokens.name'),
        size: 180,
        meta: { grow: 2, isVital: true },
        cell: ({ row: { original } }) => <span className="foreign">{original.name}</span>,
      },
      {
        id: 'role',
        accessorFn: ({ role }) => t(`account.role.${role}`),
        header: t('tokens.role'),
        size: 120,
      },
      {
        accessorKey: 'owner',
        header: t('tokens.owner'),
        size: 190,
        meta: { grow: 1 },
        cell: ({ row: { original } }) => <span className="foreign">{original.owner}</span>,
      },
      { accessorKey: 'hint', header: t('tokens.hint'), size: 120 },
      {
        accessorKey: 'expires_at',
        header: t('tokens.expires'),
        size: 130,
        cell: ({ row: { original } }) =>
          original.expires_at !== null && Date.parse(original.expires_at) <= Date.now() ? (
            <StateBadge kind="off">{t('tokens.expired')}</StateBadge>
          ) : (
            <Moment at={original.expires_at} never={t('tokens.never')} />
          ),
      },
      {
        accessorKey: 'last_used_at',
        header: t('tokens.lastUsed'),
        size: 130,
        cell: ({ row: { original } }) => <Moment at={original.last_used_at} never={t('tokens.never')} />,
      },
      {
        id: 'actions',
        header: '',
        size: 120,
        enableSorting: false,
        meta: { isVital: true },
        cell: ({ row: { original } }) => (
          <Confirm
            title={t('tokens.revokeAsk', { name: original.name })}
            action={t('tokens.revoke')}
            onConfirm={() => revoke(original)}
            trigger={(open) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t('tokens.revokeOf', { name: original.name })}
                onClick={open}
              >
                {t('tokens.revoke')}
              </Button>
            )}
          >
            {t('tokens.revokeAbout')}
          </Confirm>
        ),
      },
    ];
  }, [t, mutateAsync]);
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/tokens/new')}>
      {t('tokens.add')}
    </Button>
  );
  return (
    <ListPage
      title={t('tokens.title')}
      about={t('tokens.about')}
      actions={add}
      list={list}
      none={{ title: t('tokens.none'), about: t('tokens.noneAbout') }}
      columns={columns}
      rowId={idOf}
      textOf={textOf}
    />
  );
};
