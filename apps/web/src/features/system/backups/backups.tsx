import { ActionIcon, Anchor, Button, Group, Menu, Stack, Text } from '@mantine/core';
import type { Backup, BackupReport } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useNavigate } from 'react-router';
import { urlOf } from '../../../api/client.ts';
import { useChange, useRead } from '../../../api/query.ts';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { IconDotsVertical, IconDownload, IconPlus, IconUpload } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';
import { Keeping } from './keeping.tsx';

const nameOf = ({ name }: Backup): string => name;
const textOf = ({ name, kind, reason }: Backup): string => `${name} ${kind} ${reason}`;
const MEGABYTE = 1_000_000;

const formatBytes = (bytes: number): string =>
  bytes < MEGABYTE
    ? formatNumber(bytes / 1_000, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 })
    : formatNumber(bytes / MEGABYTE, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });

/** Whether it was read from end to end, and whether it is elsewhere as well. */
const State = ({ backup }: { backup: Backup }) => {
  const { t } = useTranslation('system');
  const { verified_at, copied_at, copy_problem } = backup;
  if (verified_at === null) {
    return (
      <StateBadge kind="warning" why={t('backups.unverifiedWhy')}>
        {t('backups.unverified')}
      </StateBadge>
    );
  }
  if (copy_problem !== '') {
    return (
      <StateBadge kind="warning" why={copy_problem}>
        {t('backups.notCopied')}
      </StateBadge>
    );
  }
  return (
    <StateBadge kind="good" why={t('backups.verifiedAt', { when: formatMoment(verified_at) })}>
      {t(copied_at === null ? 'backups.verified' : 'backups.copied')}
    </StateBadge>
  );
};

const Actions = ({ backup }: { backup: Backup }) => {
  const { t } = useTranslation(['system', 'common']);
  const navigate = useNavigate();
  const { mutateAsync, isPending } = useChange<BackupReport>();
  const path = `/backups/${encodeURIComponent(backup.name)}`;
  const verify = () =>
    mutateAsync({ method: 'POST', path: `${path}/verify`, body: {} }).then(
      ({ data: { valid, problems } }) =>
        valid ? notifyDone(t('backups.isValid', { name: backup.name })) : notifyFailed(problems.join(' ')),
      notifyFailed,
    );
  const remove = async () => {
    await mutateAsync({ method: 'DELETE', path });
    notifyDone(t('backups.removed'));
  };
  return (
    <Confirm
      title={t('backups.remove')}
      action={t('common:delete')}
      onConfirm={remove}
      trigger={(open) => (
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            component="a"
            href={urlOf(`${path}/download`)}
            download
            variant="subtle"
            color="gray"
            aria-label={t('backups.downloadOf', { name: backup.name })}
          >
            <IconDownload size={17} />
          </ActionIcon>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon
                variant="subtle"
                color="gray"
                loading={isPending}
                aria-label={t('backups.more', { name: backup.name })}
              >
                <IconDotsVertical size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => void (backup.encrypted ? navigate(`${path}/verify`) : verify())}>
                {t('backups.verify')}
              </Menu.Item>
              <Menu.Item onClick={() => void navigate(path)}>{t('backups.restore')}</Menu.Item>
              <Menu.Item color="red" onClick={open}>
                {t('common:delete')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
      )}
    >
      <span className="foreign">{backup.name}</span>. {t('backups.removeAbout')}
    </Confirm>
  );
};

/** Files with everything that is configured. What is done with one, or makes one, is beside the list at an address of its own. */
export const Backups = () => {
  const { t } = useTranslation('system');
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  const { data, error, refetch } = useRead<Backup[]>('/backups', { everyMs: 30_000 });
  const columns = useMemo<Column<Backup>[]>(
    () => [
      {
        accessorKey: 'created_at',
        header: t('backups.made'),
        size: 120,
        meta: { isVital: true, grow: 1, narrow: 118 },
        cell: ({ row: { original } }) => (
          <Anchor component={Link} to={`/backups/${encodeURIComponent(original.name)}`} inherit>
            <Moment at={original.created_at} />
          </Anchor>
        ),
      },
      {
        id: 'kind',
        accessorFn: ({ kind, reason }) => (reason === '' ? t(`backups.kinds.${kind}`) : reason),
        header: t('backups.kind'),
        size: 200,
        meta: { grow: 2 },
      },
      {
        id: 'state',
        accessorFn: ({ verified_at, copied_at }) => `${verified_at === null} ${copied_at === null}`,
        header: t('backups.state'),
        size: 160,
        meta: { isVital: true, narrow: 137 },
        cell: ({ row: { original } }) => <State backup={original} />,
      },
      {
        accessorKey: 'encrypted',
        header: t('backups.opens'),
        size: 200,
        cell: ({ row: { original } }) => t(original.encrypted ? 'backups.withPassphrase' : 'backups.withKey'),
      },
      {
        accessorKey: 'size',
        header: t('backups.size'),
        size: 100,
        cell: ({ row: { original } }) => formatBytes(original.size),
      },
      {
        id: 'actions',
        header: '',
        size: 84,
        enableSorting: false,
        meta: { isVital: true, narrow: 73 },
        cell: ({ row: { original } }) => <Actions backup={original} />,
      },
    ],
    [t],
  );
  const make = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/backups/new')}>
      {t('backups.make')}
    </Button>
  );
  const upload = (
    <Button variant="default" leftSection={<IconUpload size={16} />} onClick={() => void navigate('/backups/upload')}>
      {t('backups.upload')}
    </Button>
  );
  return (
    <Page
      title={t('backups.title')}
      about={t('backups.about')}
      actions={
        <>
          {upload}
          {make}
        </>
      }
    >
      <Problem error={error} onRetry={() => void refetch()} />
      <Keeping />
      {data?.length === 0 ? (
        <Empty title={t('backups.none')} action={make}>
          {t('backups.noneAbout')}
        </Empty>
      ) : (
        <Stack gap="xs">
          <TableBar search={search} onSearch={setSearch} count={data?.length} />
          <DataTable
            label={t('backups.title')}
            rows={data ?? []}
            columns={columns}
            rowId={nameOf}
            textOf={textOf}
            search={search}
            initialSort={[{ id: 'created_at', desc: true }]}
            empty={search === '' ? '' : <Text size="sm">{t('noMatch')}</Text>}
          />
        </Stack>
      )}
      <Outlet />
    </Page>
  );
};
