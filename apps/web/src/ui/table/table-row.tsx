import { type Column, flexRender, type Row, type RowData } from '@tanstack/react-table';
import { type CSSProperties, memo, type ReactNode } from 'react';
import classes from './data-table.module.css';
import rowClasses from './row.module.css';

declare module '@tanstack/react-table' {
  interface ColumnMeta<TData extends RowData, TValue> {
    /** Share of the width that is left, as of CSS flex-grow; 0: as wide as `size`. */
    grow?: number;
    /** How wide it is on a narrow screen, when that differs from `size`. */
    narrow?: number;
    /** Shown on a narrow screen as well. */
    isVital?: boolean;
    /**
     * Draws a cell in place of `cell`, which is for what keeps a state of its own. In a long list that saves most of the work: while one scrolls,
     * the same elements show one row after another.
     */
    draw?: (row: TData) => ReactNode;
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
  /** Those that are shown. */
  columns: readonly Column<T>[];
  /** Of the cells of each column. */
  styles: readonly CSSProperties[];
  isChosen: boolean;
  /** What the box is for that chooses it. */
  chooses: string;
  /** Absent where rows can't be chosen. */
  onChoose: ((index: number, isChosen: boolean, isRange: boolean) => void) | undefined;
}

const SELECT_STYLE = { flex: `0 0 ${SELECT_WIDTH}px` };

const AnyTableRow = <T,>({ row, index, start, columns, styles, isChosen, chooses, onChoose }: TableRowProps<T>) => (
  <div
    role="row"
    tabIndex={-1}
    aria-rowindex={index + 2}
    className={classes.row}
    data-selected={isChosen || undefined}
    style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
  >
    {onChoose && (
      <div role="cell" className={classes.cell} style={SELECT_STYLE}>
        <input
          type="checkbox"
          className={rowClasses.tick}
          aria-label={chooses}
          checked={isChosen}
          onChange={({ currentTarget, nativeEvent }) =>
            onChoose(index, currentTarget.checked, (nativeEvent as MouseEvent).shiftKey)
          }
        />
      </div>
    )}
    {columns.map((column, place) => {
      const draw = column.columnDef.meta?.draw;
      return (
        // What may have a state of its own has it of one row: it is made anew for another.
        <div
          key={draw ? column.id : `${row.id} ${column.id}`}
          role="cell"
          className={classes.cell}
          style={styles[place]}
        >
          {draw ? draw(row.original) : drawByCell(row, place)}
        </div>
      );
    })}
  </div>
);

const drawByCell = <T,>(row: Row<T>, place: number): ReactNode => {
  const cell = row.getVisibleCells()[place];
  return cell && flexRender(cell.column.columnDef.cell, cell.getContext());
};

/** A row of a `DataTable`. Drawn again only when something of it changed: while one scrolls, just those that come into sight are. */
export const TableRow = memo(AnyTableRow) as typeof AnyTableRow;
