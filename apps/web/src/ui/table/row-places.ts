import type { Row } from '@tanstack/react-table';

/** A row that is in the page. */
export interface RowInPage<T> {
  row: Row<T>;
  /** Its place among those that are shown. */
  index: number;
  /** How far it is from the first, in pixels. */
  start: number;
}

/** With the element that shows it, by its number. */
export type PlacedRow<T> = RowInPage<T> & { element: number };

/** Says which elements show which rows of a table. */
export const createRowPlaces = <T>() => {
  let placed: PlacedRow<T>[] = [];
  let count = 0;

  /** Each row keeps its element; others get a new one. In the order in which they are read. */
  const inOrder = (rows: readonly RowInPage<T>[]): PlacedRow<T>[] => {
    const elements = new Map(placed.map(({ row, element }) => [row.id, element]));
    return rows.map((one) => ({ ...one, element: elements.get(one.row.id) ?? count++ }));
  };

  /** What comes into sight takes over an element of what went, where that stands. What went and is not needed stays for the next. */
  const takingOver = (rows: readonly RowInPage<T>[], isStill: (one: RowInPage<T>) => boolean): PlacedRow<T>[] => {
    const wanted = new Map(rows.map((one) => [one.row.id, one]));
    const known = new Set(placed.map(({ row }) => row.id));
    const coming = rows.filter(({ row }) => !known.has(row.id)).values();
    const taken = placed.flatMap((one) => {
      const row = wanted.get(one.row.id) ?? coming.next().value ?? (isStill(one) ? one : undefined);
      return row ? [{ ...row, element: one.element }] : [];
    });
    return [...taken, ...coming.map((one) => ({ ...one, element: count++ }))];
  };

  return {
    /**
     * The rows in the page with their elements, in the order of those. While `isPassing` elements are used again, out of order: to change what
     * one shows is far less work than to make one, or to move it. `isStill` tells whether a row is still where it was.
     */
    place(
      rows: readonly RowInPage<T>[],
      isPassing: boolean,
      isStill: (one: RowInPage<T>) => boolean,
    ): readonly PlacedRow<T>[] {
      placed = isPassing ? takingOver(rows, isStill) : inOrder(rows);
      return placed;
    },
  };
};
