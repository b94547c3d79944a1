import { Anchor, NativeSelect, Pill, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { BlockLayer, BlockSummary } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useNavigate, useSearchParams } from 'react-router';
import { useAnswer } from '../../../api/query.ts';
import { Empty } from '../../../ui/empty.tsx';
import { Moment } from '../../../ui/moment.tsx';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';
import { countryChoices } from '../access-lists/countries.ts';
import { readable } from './marked.tsx';

const LAYERS: readonly BlockLayer[] = ['decision', 'rate_limit', 'exploit', 'websocket', 'acl', 'waf', 'guard'];
/** As it is on the page that the visitor got. */
const REFERENCE = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const MOST = 1_000;
const DEBOUNCE_MS = 250;
/** Of the query: no country is known. */
const UNKNOWN_COUNTRY = 'unknown';

const referenceOf = ({ reference }: BlockSummary): string => reference;

/** Requests that were refused. The explanation of one is beside the list, at an address of its own. */
export const Blocks = () => {
  const { t, i18n } = useTranslation('protection');
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const [search, setSearch] = useState(params.get('search') ?? '');
  const [layer, setLayer] = useState(params.get('layer') ?? '');
  const [host, setHost] = useState(params.get('host') ?? '');
  const [ip, setIp] = useState(params.get('ip') ?? '');
  const [country, setCountry] = useState(params.get('country') ?? '');
  const [asked] = useDebouncedValue(search.trim(), DEBOUNCE_MS);
  const { data, error, refetch } = useAnswer<{ blocks: BlockSummary[] }>('/security/blocks', {
    query: { limit: MOST, search: asked, layer, host, ip, country },
    everyMs: 5_000,
  });
  const rows = data?.data.blocks;

  const find = (text: string) => {
    setSearch(text);
    // Whoever pastes a whole reference wants its explanation.
    if (REFERENCE.test(text.trim())) void navigate(`/blocks/${text.trim().toLowerCase()}`);
  };

  const columns = useMemo<Column<BlockSummary>[]>(
    () => [
      {
        accessorKey: 'timestamp',
        header: t('blocks.when'),
        size: 130,
        cell: ({ row: { original } }) => <Moment at={original.timestamp} />,
      },
      {
        id: 'request',
        accessorFn: ({ method, request_uri }) => `${method} ${readable(request_uri)}`,
        header: t('blocks.what'),
        size: 220,
        meta: { grow: 3, isVital: true },
        cell: ({ getValue, row: { original } }) => (
          <Anchor component={Link} to={`/blocks/${original.reference}`} className="foreign" inherit>
            {getValue<string>()}
          </Anchor>
        ),
      },
      {
        accessorKey: 'host',
        header: t('blocks.host'),
        size: 160,
        meta: { grow: 1 },
        cell: ({ row: { original } }) => <span className="foreign">{original.host}</span>,
      },
      { accessorKey: 'ip', header: t('blocks.visitor'), size: 140 },
      {
        accessorKey: 'layer',
        header: t('blocks.layerLabel'),
        size: 190,
        meta: { isVital: true },
        cell: ({ row: { original } }) => (
          <StateBadge kind={original.monitored ? 'warning' : 'bad'}>{t(`blocks.layer.${original.layer}`)}</StateBadge>
        ),
      },
      { accessorKey: 'rule_id', header: t('blocks.rule'), size: 90 },
    ],
    [t],
  );
  const countries = useMemo(
    () => [
      { value: UNKNOWN_COUNTRY, label: t('blocks.unknownCountry') },
      ...countryChoices(i18n.resolvedLanguage ?? 'en'),
    ],
    [t, i18n.resolvedLanguage],
  );
  const isUnfiltered = [asked, layer, host, ip, country].every((filter) => filter === '');
  const given = [
    { value: host, label: t('blocks.ofHost', { host }), clear: () => setHost('') },
    { value: ip, label: t('blocks.ofVisitor', { ip }), clear: () => setIp('') },
  ].filter(({ value }) => value !== '');
  return (
    <Page title={t('blocks.title')} about={t('blocks.about')}>
      <Problem error={error} onRetry={() => void refetch()} />
      {rows?.length === 0 && isUnfiltered && search === '' ? (
        <Empty title={t('blocks.none')}>{t('blocks.noneAbout')}</Empty>
      ) : null}
      <TableBar search={search} onSearch={find} count={data?.total ?? rows?.length} placeholder={t('blocks.search')}>
        <NativeSelect
          aria-label={t('blocks.layerLabel')}
          value={layer}
          onChange={({ currentTarget }) => setLayer(currentTarget.value)}
          data={[
            { value: '', label: t('blocks.anyLayer') },
            ...LAYERS.map((one) => ({ value: one, label: t(`blocks.layer.${one}`) })),
          ]}
        />
        <Select
          aria-label={t('blocks.country')}
          placeholder={t('blocks.anyCountry')}
          searchable
          clearable
          w={200}
          value={country === '' ? null : country}
          onChange={(code) => setCountry(code ?? '')}
          data={countries}
          nothingFoundMessage={t('blocks.noCountry')}
        />
        {given.map(({ label, clear }) => (
          <Pill
            key={label}
            size="md"
            className="foreign"
            withRemoveButton
            onRemove={clear}
            removeButtonProps={{
              'aria-label': t('blocks.without', { filter: label }),
              tabIndex: 0,
              'aria-hidden': false,
            }}
          >
            {label}
          </Pill>
        ))}
      </TableBar>
      {(rows?.length !== 0 || !isUnfiltered) && (
        <DataTable
          label={t('blocks.title')}
          rows={rows ?? []}
          columns={columns}
          rowId={referenceOf}
          empty={rows === undefined ? '' : t('blocks.noMatch')}
        />
      )}
      <Outlet />
    </Page>
  );
};
