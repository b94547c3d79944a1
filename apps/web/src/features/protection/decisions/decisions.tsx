import { Button, NativeSelect, Text } from '@mantine/core';
import type { Decision } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Outlet, useNavigate, useSearchParams } from 'react-router';
import { useAnswer, useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Empty } from '../../../ui/empty.tsx';
import { IconPlus } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';

const SOURCES = ['manual', 'crowdsec'] as const;
const MOST = 1_000;
const idOf = ({ uuid }: Decision): string => uuid;
const isKnownSource = (source: string): source is (typeof SOURCES)[number] =>
  (SOURCES as readonly string[]).includes(source);

/** Who is banned, by whom, why and until when. */
export const Decisions = () => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const [search, setSearch] = useState(params.get('search') ?? '');
  const [source, setSource] = useState(params.get('source') ?? '');
  const { data, error, refetch } = useAnswer<{ decisions: Decision[] }>('/security/decisions', {
    query: { limit: MOST, source, search: search.trim() },
    everyMs: 10_000,
  });
  const { mutateAsync } = useChange(['/security']);
  const rows = data?.data.decisions;

  const columns = useMemo<Column<Decision>[]>(() => {
    const end = ({ id, ip }: Decision) =>
      mutateAsync({ method: 'DELETE', path: `/security/decisions/${id}` }).then(
        () => notifyDone(t('decisions.unbanned', { ip })),
        notifyFailed,
      );
    return [
      { accessorKey: 'ip', header: t('decisions.ip'), size: 170, meta: { grow: 1, isVital: true } },
      {
        accessorKey: 'details',
        header: t('decisions.details'),
        size: 160,
        meta: { grow: 3 },
        cell: ({ row: { original } }) => (
          <span className="foreign" title={original.details}>
            {original.details}
          </span>
        ),
      },
      {
        accessorKey: 'source',
        header: t('decisions.source'),
        size: 155,
        cell: ({ row: { original } }) =>
          isKnownSource(original.source) ? t(`decisions.sources.${original.source}`) : original.source,
      },
      {
        id: 'state',
        accessorFn: ({ warnings }) => warnings.length,
        header: t('decisions.state'),
        size: 150,
        cell: ({ row: { original } }) =>
          original.warnings.length === 0 ? (
            <StateBadge kind="good">{t('decisions.enforced')}</StateBadge>
          ) : (
            <StateBadge kind="warning" why={original.warnings.map(({ message }) => message).join(' ')}>
              {t('decisions.notEnforced')}
            </StateBadge>
          ),
      },
      {
        accessorKey: 'created_at',
        header: t('decisions.made'),
        size: 140,
        cell: ({ row: { original } }) => <Moment at={original.created_at} />,
      },
      {
        accessorKey: 'expires_at',
        header: t('decisions.ends'),
        size: 135,
        cell: ({ row: { original } }) => <Moment at={original.expires_at} never={t('decisions.never')} />,
      },
      ...(isAdmin
        ? [
            {
              id: 'actions',
              header: '',
              size: 116,
              enableSorting: false,
              meta: { isVital: true },
              cell: ({ row: { original } }) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t('decisions.unbanOf', { ip: original.ip })}
                  onClick={() => void end(original)}
                >
                  {t('decisions.unban')}
                </Button>
              ),
            } satisfies Column<Decision>,
          ]
        : []),
    ];
  }, [t, isAdmin, mutateAsync]);

  const ban = isAdmin && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/decisions/new')}>
      {t('decisions.ban')}
    </Button>
  );
  const isEmpty = rows?.length === 0 && search === '' && source === '';
  return (
    <Page title={t('decisions.title')} about={t('decisions.about')} actions={ban}>
      <Problem error={error} onRetry={() => void refetch()} />
      {isEmpty ? (
        <Empty title={t('decisions.none')}>
          <Text size="sm">{t('decisions.noneAbout')}</Text>
        </Empty>
      ) : (
        <>
          <TableBar search={search} onSearch={setSearch} count={data?.total ?? rows?.length}>
            <NativeSelect
              aria-label={t('decisions.source')}
              value={source}
              onChange={({ currentTarget }) => setSource(currentTarget.value)}
              data={[
                { value: '', label: t('decisions.anySource') },
                ...SOURCES.map((one) => ({ value: one, label: t(`decisions.sources.${one}`) })),
              ]}
            />
          </TableBar>
          <DataTable
            label={t('decisions.title')}
            rows={rows ?? []}
            columns={columns}
            rowId={idOf}
            empty={rows === undefined ? '' : t('decisions.noMatch')}
          />
        </>
      )}
      <Outlet />
    </Page>
  );
};
