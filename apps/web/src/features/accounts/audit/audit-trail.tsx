import { Button, Group, Pagination, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { AuditEntry } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useAnswer } from '../../../api/query.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';
import { WideTable } from '../../../ui/table/wide-table.tsx';
import { Entry } from './entry.tsx';
import { ExportButton } from './export-button.tsx';
import { useVerification, Verification, VerifyButton } from './verification.tsx';

const PER_PAGE = 50;
const PAUSE_MS = 300;
const FILTERS = ['search', 'action', 'start', 'end'] as const;

/** The moment that a field of the browser names, in local time there; undefined for none. */
const momentOf = (local: string): string | undefined => {
  const at = Date.parse(local);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

/** Who changed what. What is looked for stands in the address, so that it can be sent to somebody. */
export const AuditTrail = () => {
  const { t } = useTranslation(['accounts', 'common']);
  const [params, setParams] = useSearchParams();
  const [openId, setOpenId] = useState<number>();
  const given = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ''])) as Record<
    (typeof FILTERS)[number],
    string
  >;
  const page = Number(params.get('page') ?? 1) || 1;
  const set = (name: string, value: string) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (name !== 'page') after.delete('page');
        if (value === '') after.delete(name);
        else after.set(name, value);
        return after;
      },
      { replace: true },
    );
  const [search] = useDebouncedValue(given.search, PAUSE_MS);
  const [action] = useDebouncedValue(given.action.trim(), PAUSE_MS);
  const query = { search, action, start: momentOf(given.start), end: momentOf(given.end) };
  const { data, error, refetch } = useAnswer<AuditEntry[]>('/audit-logs', {
    query: { ...query, page, per_page: PER_PAGE },
  });
  const verification = useVerification();
  const total = data?.total ?? 0;
  return (
    <Page
      title={t('audit.title')}
      about={t('audit.about')}
      actions={
        <>
          <VerifyButton of={verification} />
          <ExportButton query={query} />
        </>
      }
    >
      <Verification of={verification} />
      <TableBar search={given.search} onSearch={(text) => set('search', text)} count={data?.total}>
        <TextInput
          aria-label={t('audit.action')}
          placeholder={t('audit.action')}
          w={180}
          value={given.action}
          onChange={({ currentTarget }) => set('action', currentTarget.value)}
        />
        {(['start', 'end'] as const).map((name) => (
          <Group key={name} gap={6} wrap="nowrap">
            <Text size="sm" c="dimmed" component="label" htmlFor={`audit-${name}`}>
              {t(name === 'start' ? 'audit.from' : 'audit.until')}
            </Text>
            <TextInput
              id={`audit-${name}`}
              type="datetime-local"
              value={given[name]}
              onChange={({ currentTarget }) => set(name, currentTarget.value)}
            />
          </Group>
        ))}
        {FILTERS.some((name) => given[name] !== '') && (
          <Button variant="subtle" size="compact-sm" onClick={() => setParams({}, { replace: true })}>
            {t('audit.clearFilters')}
          </Button>
        )}
      </TableBar>
      <Problem error={error} onRetry={() => void refetch()} />
      <WideTable
        label={t('audit.title')}
        minWidth={760}
        notOnPhones={[1, 3, 4]}
        head={[t('audit.at'), t('audit.who'), t('audit.action'), t('audit.what'), t('audit.address'), null]}
      >
        {data?.data.length === 0 && (
          <Table.Tr>
            <Table.Td colSpan={6} ta="center" c="dimmed">
              {t('audit.none')}
            </Table.Td>
          </Table.Tr>
        )}
        {data?.data.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            isOpen={openId === entry.id}
            onToggle={() => setOpenId((before) => (before === entry.id ? undefined : entry.id))}
            onAction={() => set('action', entry.action)}
          />
        ))}
      </WideTable>
      {total > PER_PAGE && (
        <Pagination
          aria-label={t('audit.page')}
          total={Math.ceil(total / PER_PAGE)}
          value={page}
          onChange={(to) => set('page', String(to))}
          getItemProps={(item) => ({ 'aria-label': String(item) })}
          getControlProps={(control) => ({ 'aria-label': t(control === 'next' ? 'audit.older' : 'audit.newer') })}
        />
      )}
    </Page>
  );
};
