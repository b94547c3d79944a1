import { Anchor, Button, Stack, Text } from '@mantine/core';
import type { User } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { IconPlus, IconSend } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';

const KINDS = { active: 'good', pending: 'waiting', disabled: 'off' } as const;
const idOf = ({ id }: User): string => String(id);
const textOf = ({ email, name, role, status }: User): string => `${email} ${name} ${role} ${status}`;

/** Who may sign in. The form of one is beside the list, at an address of its own. */
export const Users = () => {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const list = useRead<User[]>('/users');
  const columns = useMemo<Column<User>[]>(
    () => [
      {
        accessorKey: 'email',
        header: t('users.person'),
        size: 260,
        meta: { grow: 2, isVital: true },
        cell: ({ row: { original } }) => (
          <Stack gap={0} miw={0}>
            <Anchor component={Link} to={`/users/${original.id}`} className="foreign" inherit truncate>
              {original.email}
            </Anchor>
            {original.name !== '' && (
              <Text size="xs" c="dimmed" className="foreign" truncate>
                {original.name}
              </Text>
            )}
          </Stack>
        ),
      },
      {
        id: 'role',
        accessorFn: ({ role }) => t(`account.role.${role}`),
        header: t('users.role'),
        size: 140,
      },
      {
        accessorKey: 'status',
        header: t('users.state'),
        size: 130,
        meta: { isVital: true },
        cell: ({ row: { original } }) => (
          <StateBadge kind={KINDS[original.status]}>{t(`users.status.${original.status}`)}</StateBadge>
        ),
      },
      {
        accessorKey: 'totp_enabled',
        header: t('users.factor'),
        size: 150,
        cell: ({ row: { original } }) => (
          <StateBadge kind={original.totp_enabled ? 'good' : 'off'}>
            {t(original.totp_enabled ? 'users.factorOn' : 'users.factorOff')}
          </StateBadge>
        ),
      },
      {
        accessorKey: 'last_login',
        header: t('users.lastLogin'),
        size: 150,
        cell: ({ row: { original } }) => <Moment at={original.last_login} never={t('users.never')} />,
      },
    ],
    [t],
  );
  return (
    <ListPage
      title={t('users.title')}
      about={t('users.about')}
      actions={
        <>
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => void navigate('/users/new')}>
            {t('users.add')}
          </Button>
          <Button leftSection={<IconSend size={16} />} onClick={() => void navigate('/users/invite')}>
            {t('users.invite')}
          </Button>
        </>
      }
      list={list}
      columns={columns}
      rowId={idOf}
      textOf={textOf}
    />
  );
};
