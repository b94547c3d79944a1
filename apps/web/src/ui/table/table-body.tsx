import type { Column, Row } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import classes from './data-table.module.css';
import { createRowPlaces } from './row-places.ts';
import { flexOf, ROW_HEIGHT, TableRow } from './table-row.tsx';

interface TableBodyProps<T> {
  /** Those that are shown, in their order. */
  rows: readonly Row<T>[];
  /** Those that are shown. */
  columns: readonly Column<T>[];
  /** Of all columns. */
  width: string;
  isNarrow: boolean;
  chosen: Readonly<Record<string, boolean>> | undefined;
  /** What the box is for that chooses a row. */
  chooses: string;
  /** Absent where rows can't be chosen. */
  onChoose: ((index: number, isChosen: boolean, isRange: boolean) => void) | undefined;
}

/** The rows of a `DataTable` that are in sight. Drawn by itself, so that scrolling costs nothing of what stands around it. */
export const TableBody = <T,>({ rows, columns, width, isNarrow, chosen, chooses, onChoose }: TableBodyProps<T>) => {
  const body = useRef<HTMLDivElement>(null);
  const [places] = useState(() => createRowPlaces<T>());
  const styles = useMemo(() => columns.map((column) => flexOf(column, isNarrow)), [columns, isNarrow]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => body.current?.parentElement ?? null,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const inPage = virtual.getVirtualItems().flatMap(({ index, start }) => {
    const row = rows[index];
    return row ? [{ row, index, start }] : [];
  });
  // An element that has the focus goes on showing what one has chosen to do something with; and where it goes from there is a matter of order.
  const isPassing = virtual.isScrolling && body.current?.contains(document.activeElement) !== true;
  const placed = places.place(inPage, isPassing, ({ row, index }) => rows[index] === row);
  return (
    <div ref={body} role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize(), width }}>
      {placed.map(({ row, index, start, element }) => (
        <TableRow
          key={element}
          row={row}
          index={index}
          start={start}
          columns={columns}
          styles={styles}
          isChosen={chosen?.[row.id] === true}
          chooses={chooses}
          onChoose={onChoose}
        />
      ))}
    </div>
  );
};
