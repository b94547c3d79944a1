import { Button, NativeSelect } from '@mantine/core';
import type { CrowdsecPreset } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange, useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Empty } from '../../../ui/empty.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';
import { CrowdsecPage } from './crowdsec-page.tsx';
import { Install } from './install.tsx';

const TOUCHED = ['/admin/crowdsec'] as const;
/** The preset that a change's path names. */
const CHANGED = /\/presets\/(.+?)(?:\/apply)?$/;
/** More than the hub has. */
const MOST = 1_000;

const nameOf = ({ name }: CrowdsecPreset): string => name;
const textOf = ({ name, description, scenarios }: CrowdsecPreset): string =>
  [name, description, ...scenarios.map((scenario) => scenario.name)].join(' ');
const appliedOf = ({ scenarios }: CrowdsecPreset): number => scenarios.filter(({ applied }) => applied).length;

/** Whether a preset judges, and why not. */
const State = ({ preset }: { preset: CrowdsecPreset }) => {
  const { t } = useTranslation('crowdsec');
  const { usable, applied, scenarios } = preset;
  if (!usable) {
    return (
      <StateBadge kind="off" why={t('unusableWhy')}>
        {t('unusable')}
      </StateBadge>
    );
  }
  const issues = scenarios.flatMap(({ name, issue }) => (issue === null ? [] : [`${name}: ${issue}`]));
  if (issues.length > 0) {
    return (
      <StateBadge kind="bad" why={issues.join('; ')}>
        {t('refused')}
      </StateBadge>
    );
  }
  if (applied) return <StateBadge kind="good">{t('applied')}</StateBadge>;
  const inForce = appliedOf(preset);
  if (inForce === 0) return <StateBadge kind="off">{t('notApplied')}</StateBadge>;
  return (
    <StateBadge kind="warning" why={t('partlyWhy', { applied: inForce, all: scenarios.length })}>
      {t('partly')}
    </StateBadge>
  );
};

/** The collections and scenarios of the hub, and which of them judge. */
export const Presets = () => {
  const { t } = useTranslation(['crowdsec', 'common']);
  const { isAdmin } = useWho();
  const [search, setSearch] = useState('');
  const [only, setOnly] = useState<'usable' | 'all'>('usable');
  const { data, error, refetch } = useRead<{ presets: CrowdsecPreset[] }>('/admin/crowdsec/presets', {
    query: { per_page: MOST },
    retry: false,
  });
  const { mutateAsync, isPending, variables, error: refusal } = useChange<CrowdsecPreset>(TOUCHED);
  const rows = useMemo(() => (data?.presets ?? []).filter(({ usable }) => only === 'all' || usable), [data, only]);
  const changing = isPending ? CHANGED.exec(variables.path)?.[1] : undefined;

  const columns = useMemo<Column<CrowdsecPreset>[]>(() => {
    const change = (method: 'POST' | 'DELETE', name: string) => {
      const path = `/admin/crowdsec/presets/${name}`;
      void mutateAsync({ method, path: method === 'POST' ? `${path}/apply` : path }).then(
        () => notifyDone(t(method === 'POST' ? 'wasApplied' : 'wasTakenBack', { name })),
        // It is shown above the table.
        () => {},
      );
    };
    const buttonOf = (preset: CrowdsecPreset) => {
      const { name, usable, applied } = preset;
      if (!usable) return null;
      const isBusy = changing === name;
      return (
        <Button
          size="compact-sm"
          variant="default"
          loading={isBusy}
          disabled={changing !== undefined}
          aria-label={t(applied ? 'takeBackOf' : 'applyOf', { name })}
          onClick={() => change(applied ? 'DELETE' : 'POST', name)}
        >
          {t(applied ? 'takeBack' : 'apply')}
        </Button>
      );
    };
    return [
      {
        accessorKey: 'name',
        header: t('preset'),
        size: 260,
        meta: { grow: 1, narrow: 200, isVital: true },
        cell: ({ row: { original } }) => (
          <span className="foreign" title={original.name}>
            {original.name}
          </span>
        ),
      },
      { id: 'kind', accessorFn: ({ kind }) => t(`kinds.${kind}`), header: t('kind'), size: 110 },
      {
        accessorKey: 'description',
        header: t('what'),
        size: 200,
        meta: { grow: 3 },
        cell: ({ row: { original } }) => (
          <span className="foreign" title={original.description}>
            {original.description}
          </span>
        ),
      },
      {
        id: 'state',
        accessorFn: appliedOf,
        header: t('state'),
        size: 150,
        meta: { narrow: 120 },
        cell: ({ row: { original } }) => <State preset={original} />,
      },
      ...(isAdmin
        ? [
            {
              id: 'change',
              header: '',
              size: 140,
              enableSorting: false,
              meta: { narrow: 120, isVital: true },
              cell: ({ row: { original } }: { row: { original: CrowdsecPreset } }) => buttonOf(original),
            },
          ]
        : []),
    ];
  }, [t, isAdmin, changing, mutateAsync]);

  // There are none where it is not installed.
  if (error?.status === 503) {
    return (
      <CrowdsecPage about={t('presetsAbout')}>
        <Install />
      </CrowdsecPage>
    );
  }
  return (
    <CrowdsecPage about={t('presetsAbout')}>
      <Problem error={error} onRetry={() => void refetch()} />
      <Problem error={refusal} />
      {data?.presets.length === 0 ? (
        <Empty title={t('noPresets')}>{t('noPresetsAbout')}</Empty>
      ) : (
        <>
          <TableBar search={search} onSearch={setSearch} count={data && rows.length}>
            <NativeSelect
              aria-label={t('only')}
              value={only}
              onChange={({ currentTarget }) => setOnly(currentTarget.value as typeof only)}
              data={[
                { value: 'usable', label: t('usable') },
                { value: 'all', label: t('all') },
              ]}
            />
          </TableBar>
          <DataTable
            label={t('tabs.presets')}
            rows={rows}
            columns={columns}
            rowId={nameOf}
            search={search}
            textOf={textOf}
            empty={search === '' ? '' : t('common:nothingFound')}
          />
        </>
      )}
    </CrowdsecPage>
  );
};
