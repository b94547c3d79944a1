import { Checkbox, Text, UnstyledButton } from '@mantine/core';
import { useCallbackRef, useMediaQuery } from '@mantine/hooks';
import {
  type ColumnDef,
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  type OnChangeFn,
  type RowSelectionState,
  type SortingState,
  useReactTable,
  type VisibilityState,
} from '@tanstack/react-table';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconArrowDown, IconArrowUp } from '../icons.ts';
import classes from './data-table.module.css';
import { FollowRowLink, useFollow } from './row-link.tsx';
import { TableBody } from './table-body.tsx';
import { basisOf, flexOf, SELECT_WIDTH } from './table-row.tsx';

export type Column<T> = ColumnDef<T>;

interface DataTableProps<T> {
  /** What the table lists, for those who hear the page. */
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  rowId: (row: T) => string;
  /** Keeps rows whose text contains every word of this. */
  search?: string;
  /** What of a row is searched. Default: all values of its columns. */
  textOf?: (row: T) => string;
  /** Names of columns that are not shown. */
  hidden?: readonly string[];
  selection?: { chosen: RowSelectionState; onChange: OnChangeFn<RowSelectionState> };
  initialSort?: SortingState;
  /** Shown in place of rows when none is left. */
  empty: ReactNode;
}

const NARROW = '(max-width: 48em)';

const words = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Whether a table that is searched for `search` shows a row with this text. */
export const isFound = (text: string, search: string): boolean =>
  words(search).every((word) => text.toLowerCase().includes(word));

/** A table of any length: only the rows in sight are in the page. Sorts, searches and lets rows be chosen. */
export const DataTable = <T,>(props: DataTableProps<T>) => {
  const { label, rows, columns, rowId, search = '', textOf, hidden = [], selection, initialSort = [], empty } = props;
  const { t } = useTranslation();
  const [sorting, setSorting] = useState<SortingState>(initialSort);
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const texts = useMemo(
    () => rows.map((row) => (textOf ? textOf(row) : JSON.stringify(row)).toLowerCase()),
    [rows, textOf],
  );
  const columnVisibility = useMemo<VisibilityState>(() => {
    const shown = columns.map((column) => {
      const id = column.id ?? String((column as { accessorKey?: unknown }).accessorKey);
      return [id, !hidden.includes(id) && (!isNarrow || column.meta?.isVital === true)] as const;
    });
    return Object.fromEntries(shown);
  }, [columns, hidden, isNarrow]);

  const table = useReactTable<T>({
    data: rows as T[],
    columns: columns as Column<T>[],
    getRowId: rowId,
    state: { sorting, columnVisibility, rowSelection: selection?.chosen ?? {} },
    onSortingChange: setSorting,
    enableRowSelection: selection !== undefined,
    ...(selection ? { onRowSelectionChange: selection.onChange } : {}),
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });

  const sorted = table.getRowModel().rows;
  // Not by the table, which would ask for each column of each row; and after it has sorted, so that a letter costs no sorting.
  const shown = useMemo(() => {
    const wanted = words(search);
    if (wanted.length === 0) return sorted;
    return sorted.filter(({ index }) => wanted.every((word) => texts[index]?.includes(word)));
  }, [sorted, texts, search]);
  const chosen = selection?.chosen;
  const chosenCount = useMemo(
    () => (chosen ? shown.reduce((count, { id }) => count + (chosen[id] ? 1 : 0), 0) : 0),
    [shown, chosen],
  );
  /** Chooses or leaves all that are shown; others stay as they are. */
  const chooseAll = (areChosen: boolean): void =>
    table.setRowSelection((before) => {
      const after = { ...before };
      for (const { id } of shown) {
        if (areChosen) after[id] = true;
        else delete after[id];
      }
      return after;
    });
  const lastChosen = useRef<string>(undefined);
  /** Chooses one row, or with Shift all between the last one and this one. */
  const choose = useCallbackRef((index: number, isChosen: boolean, isRange: boolean): void => {
    const from = isRange ? shown.findIndex(({ id }) => id === lastChosen.current) : -1;
    const [first, last] = from < 0 ? [index, index] : [Math.min(from, index), Math.max(from, index)];
    lastChosen.current = shown[index]?.id;
    const ids = new Set(shown.slice(first, last + 1).map(({ id }) => id));
    table.setRowSelection((chosen) => {
      const others = Object.entries(chosen).filter(([id]) => !ids.has(id));
      return Object.fromEntries([...others, ...(isChosen ? [...ids].map((id) => [id, true] as const) : [])]);
    });
  });
  const follow = useFollow();
  const shownColumns = table.getVisibleLeafColumns();
  const widths = shownColumns.map((column) => basisOf(column, isNarrow));
  // As wide as its columns, so that they stand below each other whatever is in them.
  const width = `max(100%, ${(selection ? SELECT_WIDTH : 0) + widths.reduce((sum, one) => sum + one, 0)}px)`;

  return (
    <div className={classes.frame} role="table" aria-label={label} aria-rowcount={shown.length + 1}>
      <div role="rowgroup">
        {table.getHeaderGroups().map((group) => (
          <div key={group.id} role="row" aria-rowindex={1} className={classes.head} style={{ width }} tabIndex={-1}>
            {selection && (
              <div role="columnheader" className={classes.cell} style={{ flex: `0 0 ${SELECT_WIDTH}px` }}>
                <Checkbox
                  size="xs"
                  aria-label={t('chooseAll')}
                  disabled={shown.length === 0}
                  checked={shown.length > 0 && chosenCount === shown.length}
                  indeterminate={chosenCount > 0 && chosenCount < shown.length}
                  onChange={({ currentTarget }) => chooseAll(currentTarget.checked)}
                />
              </div>
            )}
            {group.headers.map((header) => {
              const { column } = header;
              const sorted = column.getIsSorted();
              const content = flexRender(column.columnDef.header, header.getContext());
              return (
                <div
                  key={header.id}
                  role="columnheader"
                  className={classes.cell}
                  style={flexOf(column, isNarrow)}
                  aria-sort={sorted === false ? 'none' : sorted === 'asc' ? 'ascending' : 'descending'}
                >
                  {column.getCanSort() ? (
                    <UnstyledButton className={classes.sort} onClick={column.getToggleSortingHandler()}>
                      {content}
                      {sorted === 'asc' && <IconArrowUp size={12} aria-hidden />}
                      {sorted === 'desc' && <IconArrowDown size={12} aria-hidden />}
                    </UnstyledButton>
                  ) : (
                    content
                  )}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {shown.length === 0 ? (
        <Text component="div" p="lg" c="dimmed" ta="center">
          {empty}
        </Text>
      ) : (
        <FollowRowLink value={follow}>
          <TableBody
            rows={shown}
            columns={shownColumns}
            width={width}
            isNarrow={isNarrow}
            chosen={chosen}
            chooses={t('chooseRow')}
            onChoose={selection && choose}
          />
        </FollowRowLink>
      )}
    </div>
  );
};
