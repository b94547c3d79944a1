import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Outlet } from 'react-router';
import { Empty } from '../empty.tsx';
import { Page } from '../page.tsx';
import { Problem } from '../problem.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { TableBar } from './table-bar.tsx';

/** The same array each time, so that the table has nothing to do anew. */
const NO_ROWS: readonly never[] = [];

interface ListPageProps<T> {
  title: string;
  about: string;
  /** What can be done here. Where there is nothing yet, it is the first step. */
  actions?: ReactNode;
  /** Between the title and the list. */
  above?: ReactNode;
  /** What was read. */
  list: { data: readonly T[] | undefined; error: Error | null; refetch: () => unknown };
  /** What is said where there is nothing yet: what belongs here, and why one would want it. */
  none?: { title: string; about: ReactNode };
  /** What the table lists, where the title does not say so. */
  label?: string;
  columns: readonly Column<T>[];
  rowId: (row: T) => string;
  /** What of a row is searched. Without it nothing is. */
  textOf?: (row: T) => string;
}

/** A screen that is a list. The form of one is beside it, at an address of its own. */
export const ListPage = <T,>(props: ListPageProps<T>) => {
  const { title, about, actions, above, list, none, label = title, columns, rowId, textOf } = props;
  const { data, error, refetch } = list;
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const isNone = data?.length === 0 && none !== undefined;
  return (
    <Page title={title} about={about} actions={!isNone && actions}>
      {above}
      <Problem error={error} onRetry={() => void refetch()} />
      <Outlet />
      {isNone && (
        <Empty title={none.title} action={actions}>
          {none.about}
        </Empty>
      )}
      {!isNone && (data || !error) && (
        <>
          {textOf && <TableBar search={search} onSearch={setSearch} count={data?.length} />}
          <DataTable
            label={label}
            rows={data ?? NO_ROWS}
            columns={columns}
            rowId={rowId}
            {...(textOf ? { textOf } : {})}
            search={search}
            empty={t(data ? 'nothingFound' : 'loading')}
          />
        </>
      )}
    </Page>
  );
};
