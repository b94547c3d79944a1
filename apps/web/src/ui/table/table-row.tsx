import { Checkbox } from '@mantine/core';
import { type Column, flexRender, type Row, type RowData } from '@tanstack/react-table';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './data-table.module.css';

declare module '@tanstack/react-table' {
  interface ColumnMeta<TData extends RowData, TValue> {
    /** Share of the width that is left, as of CSS flex-grow; 0: as wide as `size`. */
    grow?: number;
    /** How wide it is on a narrow screen, when that differs from `size`. */
    narrow?: number;
    /** Shown on a narrow screen as well. */
    isVital?: boolean;
    /** Never used; keeps the parameters of the interface that is extended. */
    of?: [TData, TValue];
  }
}

export const ROW_HEIGHT = 44;
export const SELECT_WIDTH = 40;
/** A column that takes what is left begins with this on a narrow screen. */
const NARROW_GROWING_WIDTH = 100;
const NARROW_WIDTH = 180;

/** How wide a column is before what is left is shared out, in pixels. */
export const basisOf = <T,>(column: Column<T>, isNarrow: boolean): number => {
  const { meta } = column.columnDef;
  const size = column.getSize();
  if (!isNarrow) return size;
  if (meta?.narrow !== undefined) return meta.narrow;
  return Math.min(size, meta?.grow ? NARROW_GROWING_WIDTH : NARROW_WIDTH);
};

/** The style of a column's cells. */
export const flexOf = <T,>(column: Column<T>, isNarrow: boolean) => ({
  flex: `${column.columnDef.meta?.grow ?? 0} 0 ${basisOf(column, isNarrow)}px`,
});

interface TableRowProps<T> {
  row: Row<T>;
  /** Its place among those that are shown. */
  index: number;
  /** How far it is from the first, in pixels. */
  start: number;
  /** Of all its columns. */
  width: string;
  isNarrow: boolean;
  /** Those that are shown. */
  columns: readonly Column<T>[];
  isChosen: boolean;
  /** Absent where rows can't be chosen. */
  onChoose?: (index: number, isChosen: boolean, isRange: boolean) => void;
}

const AnyTableRow = <T,>({ row, index, start, width, isNarrow, isChosen, onChoose }: TableRowProps<T>) => {
  const { t } = useTranslation();
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      className={classes.row}
      data-selected={isChosen || undefined}
      style={{ height: ROW_HEIGHT, width, transform: `translateY(${start}px)` }}
    >
      {onChoose && (
        <div role="cell" className={classes.cell} style={{ flex: `0 0 ${SELECT_WIDTH}px` }}>
          <Checkbox
            size="xs"
            aria-label={t('chooseRow')}
            checked={isChosen}
            onChange={({ currentTarget, nativeEvent }) =>
              onChoose(index, currentTarget.checked, (nativeEvent as MouseEvent).shiftKey)
            }
          />
        </div>
      )}
      {row.getVisibleCells().map((cell) => (
        <div key={cell.id} role="cell" className={classes.cell} style={flexOf(cell.column, isNarrow)}>
          {flexRender(cell.column.columnDef.cell, cell.getContext())}
        </div>
      ))}
    </div>
  );
};

/** A row of a `DataTable`. Drawn again only when something of it changed: while one scrolls, just those that come into sight are. */
export const TableRow = memo(AnyTableRow) as typeof AnyTableRow;
