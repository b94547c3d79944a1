import { ActionIcon, Button, Tooltip } from '@mantine/core';
import type { RemoteServer } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange, useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconPlugConnected, IconPlus } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';

interface ConnectionTest {
  reachable: boolean;
  address: string;
  error?: string;
}

const uuidOf = ({ uuid }: RemoteServer): string => uuid;
const textOf = ({ name, host, port, provider }: RemoteServer): string => `${name} ${host}:${port} ${provider}`;

/** Whether something answers at a server, as of the last look. */
const Reachable = ({ server }: { server: RemoteServer }) => {
  const { t } = useTranslation('traffic');
  if (server.last_checked === null) return <StateBadge kind="off">{t('servers.unchecked')}</StateBadge>;
  return server.reachable ? (
    <StateBadge kind="good">{t('servers.reachable')}</StateBadge>
  ) : (
    <StateBadge kind="bad">{t('servers.unreachable')}</StateBadge>
  );
};

/** Machines that origins run on. The form of one is beside the list, at an address of its own. */
export const RemoteServers = () => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const list = useRead<RemoteServer[]>('/remote-servers');
  const { mutateAsync, isPending } = useChange<ConnectionTest>();

  const columns = useMemo<Column<RemoteServer>[]>(() => {
    const test = ({ uuid, name }: RemoteServer) =>
      mutateAsync({ method: 'POST', path: `/remote-servers/${uuid}/test` }).then(
        ({ data: { reachable, address, error: reason } }) =>
          reachable ? notifyDone(t('servers.answers', { address })) : notifyFailed(`${name} (${address}): ${reason}`),
        notifyFailed,
      );
    return [
      {
        accessorKey: 'name',
        header: t('servers.name'),
        size: 200,
        meta: { grow: 2, isVital: true },
        cell: ({ row: { original } }) => <RowLink to={`/servers/${original.uuid}`} name={original.name} />,
      },
      {
        id: 'address',
        accessorFn: ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
        header: t('servers.address'),
        size: 220,
        meta: { grow: 2 },
        cell: ({ getValue }) => <span className="foreign">{getValue<string>()}</span>,
      },
      { accessorKey: 'provider', header: t('servers.provider'), size: 120 },
      {
        accessorKey: 'reachable',
        header: t('servers.state'),
        size: 150,
        meta: { isVital: true },
        cell: ({ row: { original } }) => <Reachable server={original} />,
      },
      {
        accessorKey: 'last_checked',
        header: t('servers.checked'),
        size: 150,
        cell: ({ row: { original } }) => <Moment at={original.last_checked} />,
      },
      ...(isAdmin
        ? [
            {
              id: 'actions',
              header: '',
              size: 56,
              enableSorting: false,
              cell: ({ row: { original } }) => (
                <Tooltip label={t('servers.test')}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    loading={isPending}
                    aria-label={t('servers.testOf', { name: original.name })}
                    onClick={() => void test(original)}
                  >
                    <IconPlugConnected size={17} />
                  </ActionIcon>
                </Tooltip>
              ),
            } satisfies Column<RemoteServer>,
          ]
        : []),
    ];
  }, [t, isAdmin, isPending, mutateAsync]);

  const add = isAdmin && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/servers/new')}>
      {t('servers.add')}
    </Button>
  );
  return (
    <ListPage
      title={t('servers.title')}
      about={t('servers.about')}
      actions={add}
      list={list}
      none={{ title: t('servers.none'), about: t('servers.noneAbout') }}
      columns={columns}
      rowId={uuidOf}
      textOf={textOf}
    />
  );
};
