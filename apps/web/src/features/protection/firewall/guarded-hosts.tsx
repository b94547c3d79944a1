import { Button, NativeSelect, Switch } from '@mantine/core';
import type { ProxyHost } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useChange, useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { Empty } from '../../../ui/empty.tsx';
import { notifyFailed } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';
import { batchOf, offerUndo } from '../../../ui/undo.tsx';
import { useConfig } from '../security/stored.ts';
import { FirewallPage } from './firewall-page.tsx';

const TOUCHED = ['/proxy-hosts', '/history'] as const;
const OWN = [
  ['waf_allowed_methods', 'ownMethods'],
  ['waf_allowed_content_types', 'ownTypes'],
  ['waf_body_limit', 'ownLimit'],
] as const;
type Only = 'all' | 'unguarded' | 'own';

const uuidOf = ({ uuid }: ProxyHost): string => uuid;
const nameOf = ({ domain }: ProxyHost): string => domain.split(',')[0] ?? domain;
const textOf = ({ domain, name }: ProxyHost): string => `${domain} ${name}`;
const hasOwn = (host: ProxyHost): boolean => host.waf_inspect_responses || OWN.some(([field]) => host[field] !== null);

const KEPT: Record<Only, (host: ProxyHost) => boolean> = {
  all: () => true,
  unguarded: ({ waf_enabled }) => !waf_enabled,
  own: hasOwn,
};

/** Whom the firewall guards, and where a host says something else than the rest. */
export const GuardedHosts = () => {
  const { t } = useTranslation(['firewall', 'common']);
  const { isAdmin } = useWho();
  const [search, setSearch] = useState('');
  const [only, setOnly] = useState<Only>('all');
  const { data, error, refetch } = useRead<ProxyHost[]>('/proxy-hosts');
  const config = useConfig();
  const { mutateAsync, isPending } = useChange(TOUCHED);
  const rows = useMemo(() => (data ?? []).filter(KEPT[only]), [data, only]);
  const exclusions = config.data?.data.config?.waf_exclusions;

  const columns = useMemo<Column<ProxyHost>[]>(() => {
    const guard = (host: ProxyHost, waf_enabled: boolean) =>
      void mutateAsync({
        method: 'POST',
        path: '/proxy-hosts/bulk',
        body: { uuids: [host.uuid], patch: { waf_enabled } },
      })
        .then((answer) =>
          offerUndo(t(waf_enabled ? 'guardedNow' : 'unguardedNow', { name: nameOf(host) }), [batchOf(answer)], TOUCHED),
        )
        .catch(notifyFailed);
    const ownOf = (host: ProxyHost): string =>
      [
        ...OWN.filter(([field]) => host[field] !== null).map(([, text]) => t(text)),
        ...(host.waf_inspect_responses ? [t('answers')] : []),
      ].join(', ');
    const stateOf = ({ waf_enabled, enabled }: ProxyHost) => {
      if (!enabled) return <StateBadge kind="off">{t('disabledHost')}</StateBadge>;
      return (
        <StateBadge kind={waf_enabled ? 'good' : 'warning'}>{t(waf_enabled ? 'guarded' : 'unguarded')}</StateBadge>
      );
    };
    return [
      {
        id: 'domain',
        accessorFn: nameOf,
        header: t('domain'),
        size: 220,
        meta: { grow: 3, isVital: true },
        cell: ({ row: { original } }) => <RowLink to={`/hosts/${original.uuid}`} name={nameOf(original)} />,
      },
      {
        id: 'guard',
        accessorFn: ({ enabled, waf_enabled }) => (enabled ? Number(waf_enabled) : 2),
        header: t('guard'),
        size: 150,
        meta: { isVital: true },
        cell: ({ row: { original } }) => stateOf(original),
      },
      { id: 'own', accessorFn: ownOf, header: t('own'), size: 220, meta: { grow: 2 } },
      {
        id: 'exclusions',
        accessorFn: ({ uuid }) => (exclusions ?? []).filter(({ host_uuid }) => host_uuid === uuid).length,
        header: t('exclusionsOf'),
        size: 110,
        cell: ({ getValue }) => formatNumber(getValue<number>()),
      },
      ...(isAdmin
        ? [
            {
              id: 'switch',
              header: '',
              size: 70,
              enableSorting: false,
              meta: { isVital: true },
              cell: ({ row: { original } }: { row: { original: ProxyHost } }) => (
                <Switch
                  aria-label={t('guardOf', { name: nameOf(original) })}
                  checked={original.waf_enabled}
                  disabled={isPending}
                  onChange={({ currentTarget }) => guard(original, currentTarget.checked)}
                />
              ),
            },
          ]
        : []),
    ];
  }, [t, isAdmin, exclusions, isPending, mutateAsync]);

  return (
    <FirewallPage about={t('hostsAbout')}>
      <Problem error={error ?? config.error} onRetry={() => void refetch().then(() => config.refetch())} />
      {data?.length === 0 ? (
        <Empty
          title={t('noHosts')}
          action={
            <Button component={Link} to="/hosts">
              {t('toHosts')}
            </Button>
          }
        >
          {t('noHostsAbout')}
        </Empty>
      ) : (
        <>
          <TableBar search={search} onSearch={setSearch} count={data && rows.length}>
            <NativeSelect
              aria-label={t('only')}
              value={only}
              onChange={({ currentTarget }) => setOnly(currentTarget.value as Only)}
              data={[
                { value: 'all', label: t('all') },
                { value: 'unguarded', label: t('onlyUnguarded') },
                { value: 'own', label: t('onlyOwn') },
              ]}
            />
          </TableBar>
          <DataTable
            label={t('tabs.hosts')}
            rows={rows}
            columns={columns}
            rowId={uuidOf}
            search={search}
            textOf={textOf}
            empty={search !== '' || only !== 'all' ? t('common:nothingFound') : ''}
          />
        </>
      )}
    </FirewallPage>
  );
};
