import { Button, Group } from '@mantine/core';
import type { ProxyHost, SecurityConfig, SecurityConfigAnswer, WafExclusion } from '@sallyport/contract';
import { IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useNavigate } from 'react-router';
import { ApiError } from '../../../../api/api-error.ts';
import { useChange, useRead } from '../../../../api/query.ts';
import { useWho } from '../../../../app/who.ts';
import { Empty } from '../../../../ui/empty.tsx';
import { Moment } from '../../../../ui/moment.tsx';
import { notifyFailed } from '../../../../ui/notify.ts';
import { Problem } from '../../../../ui/problem.tsx';
import { StateBadge } from '../../../../ui/state-badge.tsx';
import { type Column, DataTable } from '../../../../ui/table/data-table.tsx';
import { TableBar } from '../../../../ui/table/table-bar.tsx';
import { batchOf, offerUndo } from '../../../../ui/undo.tsx';
import { TOUCHED, useConfig } from '../../security/stored.ts';
import { FirewallPage } from '../firewall-page.tsx';
import { isWide, namesOf, useInWords } from './in-words.tsx';

const keyOf = ({ rule_id, target, host_uuid, path, expires_at }: WafExclusion): string =>
  JSON.stringify([rule_id, target, host_uuid, path, expires_at]);

const without = (all: readonly WafExclusion[], one: WafExclusion): WafExclusion[] =>
  all.filter((other) => keyOf(other) !== keyOf(one));

/** Takes one exclusion out of those that there are, also of those that somebody else made meanwhile. */
const useTakeBack = () => {
  const { mutateAsync } = useChange<SecurityConfigAnswer>(TOUCHED);
  return async (all: readonly WafExclusion[], one: WafExclusion, etag: string | undefined) => {
    const send = (waf_exclusions: WafExclusion[], ifMatch: string | undefined) =>
      mutateAsync({ method: 'POST', path: '/security/config', body: { waf_exclusions }, ifMatch });
    try {
      return await send(without(all, one), etag);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      return send(without((error.current as SecurityConfig).waf_exclusions, one), undefined);
    }
  };
};

/** What the firewall overlooks, each in words. The form of another one is beside the list, at an address of its own. */
export const Exclusions = () => {
  const { t } = useTranslation(['firewall', 'common']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  const { data, error, refetch } = useConfig();
  const hosts = useRead<ProxyHost[]>('/proxy-hosts');
  const names = useMemo(() => namesOf(hosts.data), [hosts.data]);
  const inWords = useInWords(names);
  const takeBack = useTakeBack();
  const rows = data && (data.data.config?.waf_exclusions ?? []);
  const now = new Date().toISOString();

  const remove = (exclusion: WafExclusion) =>
    void takeBack(rows ?? [], exclusion, data?.etag).then(
      (answer) => offerUndo(t('takenBack', { rule: exclusion.rule_id }), [batchOf(answer)], TOUCHED),
      (failure: Error) => notifyFailed(failure.message),
    );

  const columns: Column<WafExclusion>[] = [
    { accessorKey: 'rule_id', header: t('rule'), size: 150, meta: { narrow: 84, isVital: true } },
    {
      id: 'words',
      accessorFn: inWords,
      header: t('letsThrough'),
      size: 260,
      meta: { grow: 4, isVital: true },
      cell: ({ getValue }) => (
        <span className="foreign" title={getValue<string>()}>
          {getValue<string>()}
        </span>
      ),
    },
    {
      id: 'breadth',
      accessorFn: (exclusion) => (isWide(exclusion) ? 1 : 0),
      header: t('breadthOf'),
      size: 100,
      cell: ({ row: { original } }) => (
        <StateBadge kind={isWide(original) ? 'warning' : 'good'} why={isWide(original) ? t('breadth.wideWhy') : null}>
          {t(isWide(original) ? 'breadth.wide' : 'breadth.narrow')}
        </StateBadge>
      ),
    },
    {
      id: 'ends',
      accessorFn: ({ expires_at }) => expires_at ?? '9999',
      header: t('ends'),
      size: 130,
      cell: ({ row: { original } }) =>
        original.expires_at !== undefined && original.expires_at <= now ? (
          <StateBadge kind="off">{t('ended')}</StateBadge>
        ) : (
          <Moment at={original.expires_at} never={t('never')} />
        ),
    },
    {
      accessorKey: 'description',
      header: t('why'),
      size: 120,
      meta: { grow: 2 },
      cell: ({ getValue }) => <span className="foreign">{getValue<string | undefined>()}</span>,
    },
    ...(isAdmin
      ? [
          {
            id: 'remove',
            header: '',
            size: 110,
            enableSorting: false,
            meta: { isVital: true },
            cell: ({ row: { original } }: { row: { original: WafExclusion } }) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t('takeBackOf', { rule: original.rule_id })}
                onClick={() => remove(original)}
              >
                {t('takeBack')}
              </Button>
            ),
          },
        ]
      : []),
  ];

  const add = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => void navigate('/firewall/exclusions/new')}>
      {t('exclude')}
    </Button>
  );
  return (
    <FirewallPage about={t('exclusionsAbout')} actions={rows?.length !== 0 && add}>
      <Problem error={error} onRetry={() => void refetch()} />
      {rows?.length === 0 ? (
        <Empty
          title={t('noExclusions')}
          action={
            <Group gap="xs" justify="center">
              {isAdmin && (
                <Button component={Link} to="/blocks?layer=waf" variant="default">
                  {t('toBlocks')}
                </Button>
              )}
              {add}
            </Group>
          }
        >
          {t('noExclusionsAbout')}
        </Empty>
      ) : (
        <>
          <TableBar search={search} onSearch={setSearch} count={rows?.length} />
          <DataTable
            label={t('tabs.exclusions')}
            rows={rows ?? []}
            columns={columns}
            rowId={keyOf}
            textOf={(exclusion) => `${inWords(exclusion)} ${exclusion.description ?? ''}`}
            search={search}
            empty={search === '' ? '' : t('common:nothingFound')}
          />
        </>
      )}
      <Outlet />
    </FirewallPage>
  );
};
