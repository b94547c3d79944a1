import { CloseButton, Group, Loader, Pagination, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { HistoryEntry } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useAnswer } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { Empty } from '../../../ui/empty.tsx';
import { IconSearch } from '../../../ui/icons.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { Batch } from './batch.tsx';
import { KINDS } from './resources.ts';

const A_PAGE = 50;
const TYPING_MS = 250;

/** Entries that one request made are together, in the order they came. */
const batchesOf = (entries: readonly HistoryEntry[]): HistoryEntry[][] => {
  const batches = new Map<string, HistoryEntry[]>();
  for (const entry of entries) {
    const known = batches.get(entry.batch);
    if (known) known.push(entry);
    else batches.set(entry.batch, [entry]);
  }
  return [...batches.values()];
};

/** What was changed, by whom, from what to what, and taking it back. `?resource=` shows one object or kind alone. */
export const History = () => {
  const { t } = useTranslation(['system', 'common']);
  const { isAdmin } = useWho();
  const [params, setParams] = useSearchParams();
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(1);
  const [wanted] = useDebouncedValue(search, TYPING_MS);
  const resource = params.get('resource') ?? '';
  const query = { page, per_page: A_PAGE, search: wanted, resource };
  const { data, error, refetch } = useAnswer<HistoryEntry[]>('/history', { query, everyMs: 30_000 });
  const show = (next: string) => {
    setPage(1);
    setParams(next === '' ? {} : { resource: next });
  };
  const kinds = KINDS.filter(({ path }) => isAdmin || path !== 'settings');
  const isKind = resource === '' || kinds.some(({ path }) => path === resource);
  const batches = batchesOf(data?.data ?? []);
  const total = data?.total ?? 0;
  const isFiltered = wanted !== '' || resource !== '';
  return (
    <Page title={t('history.title')} about={t('history.about')}>
      <Problem error={error} onRetry={() => void refetch()} />
      <Group gap="xs">
        <TextInput
          type="search"
          flex="1 1 14rem"
          maw={420}
          aria-label={t('common:search')}
          placeholder={t('common:search')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={({ currentTarget }) => {
            setPage(1);
            setSearch(currentTarget.value);
          }}
        />
        {isKind ? (
          <Select
            aria-label={t('history.kind')}
            data={[
              { value: '', label: t('history.all') },
              ...kinds.map(({ path, name }) => ({ value: path, label: t(`history.kinds.${name}`) })),
            ]}
            value={resource}
            allowDeselect={false}
            onChange={(next) => show(next ?? '')}
          />
        ) : (
          <Group gap={4} wrap="nowrap">
            <Text size="sm" className="foreign">
              {t('history.only', { resource })}
            </Text>
            <CloseButton size="sm" aria-label={t('history.all')} onClick={() => show('')} />
          </Group>
        )}
        <Text size="sm" c="dimmed" ml="auto">
          {data && t('history.count', { count: total, shown: formatNumber(total) })}
        </Text>
      </Group>
      {!data && !error && <Loader aria-label={t('common:loading')} />}
      {data && batches.length === 0 && (
        <Empty title={t('history.none')}>{isFiltered ? t('noMatch') : t('history.noneAbout')}</Empty>
      )}
      <Stack gap="xs">
        {batches.map((entries) => (
          <Batch key={entries[0]?.batch} entries={entries} />
        ))}
      </Stack>
      {total > A_PAGE && (
        <Pagination
          total={Math.ceil(total / A_PAGE)}
          value={page}
          onChange={setPage}
          getControlProps={(control) => ({ 'aria-label': t(`history.${control}`) })}
          getItemProps={(number) => ({ 'aria-label': t('history.page', { number: formatNumber(number) }) })}
        />
      )}
    </Page>
  );
};
