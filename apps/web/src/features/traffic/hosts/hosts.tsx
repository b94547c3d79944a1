import { Button, Select } from '@mantine/core';
import type { ProxyHost } from '@sallyport/contract';
import type { RowSelectionState } from '@tanstack/react-table';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Outlet, useNavigate, useSearchParams } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { Empty } from '../../../ui/empty.tsx';
import { IconPlus } from '../../../ui/icons.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { DataTable, isFound } from '../../../ui/table/data-table.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';
import { useHiddenColumns } from '../../../ui/table/use-hidden-columns.ts';
import { originOf } from './addresses.ts';
import { BulkBar } from './bulk-bar.tsx';
import { useHostColumns } from './host-columns.tsx';
import { FEATURE_NAMES, filterHosts, STATE_FILTERS } from './host-filter.ts';

const uuidOf = ({ uuid }: ProxyHost): string => uuid;
const textOf = (host: ProxyHost): string => `${host.name} ${host.domain} ${originOf(host)}`;
const BY_DOMAIN = [{ id: 'domain', desc: false }];

/** All proxy hosts. The form of one is beside the list, at an address of its own; what is filtered by stands in the address, too. */
export const Hosts = () => {
  const { t } = useTranslation('traffic');
  const navigate = useNavigate();
  const [query, setQuery] = useSearchParams();
  const [search, setSearch] = useState('');
  const [hidden, setHidden] = useHiddenColumns('hosts', ['name', 'created_at']);
  const [chosen, setChosen] = useState<RowSelectionState>({});
  const { data, error, refetch } = useRead<ProxyHost[]>('/proxy-hosts');
  const { columns, hideable } = useHostColumns();

  const state = query.get('state');
  const feature = query.get('feature');
  const rows = useMemo(() => filterHosts(data ?? [], { state, feature }), [data, state, feature]);
  const chosenHosts = useMemo(() => (data ?? []).filter(({ uuid }) => chosen[uuid]), [data, chosen]);
  const unseen = useMemo(() => {
    const inSight = new Set(rows);
    return chosenHosts.filter((host) => !inSight.has(host) || !isFound(textOf(host), search)).length;
  }, [chosenHosts, rows, search]);
  const narrow = (name: 'state' | 'feature') => (value: string | null) => {
    setQuery(
      (before) => {
        if (value === null) before.delete(name);
        else before.set(name, value);
        return before;
      },
      { replace: true },
    );
  };

  const add = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => void navigate({ pathname: '/hosts/new', search: query.toString() })}
    >
      {t('hosts.add')}
    </Button>
  );
  const isNarrowed = search !== '' || state !== null || feature !== null;
  return (
    <Page title={t('hosts.title')} about={t('hosts.about')} actions={add}>
      <Problem error={error} onRetry={() => void refetch()} />
      {data?.length === 0 ? (
        <Empty title={t('hosts.none')} action={add}>
          {t('hosts.noneAbout')}
        </Empty>
      ) : (
        <>
          <TableBar
            search={search}
            onSearch={setSearch}
            count={data === undefined ? undefined : rows.length}
            columns={{ all: hideable, hidden, onChange: setHidden }}
          >
            <Select
              flex="1 1 11rem"
              maw={200}
              clearable
              aria-label={t('hosts.stateFilter')}
              placeholder={t('hosts.anyState')}
              data={STATE_FILTERS.map((one) => ({ value: one, label: t(`hosts.states.${one}`) }))}
              value={state}
              onChange={narrow('state')}
            />
            <Select
              flex="1 1 11rem"
              maw={200}
              clearable
              aria-label={t('hosts.featureFilter')}
              placeholder={t('hosts.anyFeature')}
              data={[
                {
                  group: t('hosts.with'),
                  items: FEATURE_NAMES.map((one) => ({ value: one, label: t(`hosts.features.${one}`) })),
                },
                {
                  group: t('hosts.without'),
                  items: FEATURE_NAMES.map((one) => ({ value: `!${one}`, label: t(`hosts.lacks.${one}`) })),
                },
              ]}
              value={feature}
              onChange={narrow('feature')}
            />
          </TableBar>
          {chosenHosts.length > 0 && <BulkBar hosts={chosenHosts} unseen={unseen} onDone={() => setChosen({})} />}
          <DataTable
            label={t('hosts.title')}
            rows={rows}
            columns={columns}
            rowId={uuidOf}
            textOf={textOf}
            search={search}
            hidden={hidden}
            selection={{ chosen, onChange: setChosen }}
            initialSort={BY_DOMAIN}
            empty={isNarrowed ? t('noMatch') : ''}
          />
        </>
      )}
      <Outlet />
    </Page>
  );
};
