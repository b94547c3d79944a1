import type { Row } from '@tanstack/react-table';
import { describe, expect, test } from 'vitest';
import { createRowPlaces, type PlacedRow, type RowInPage } from './row-places.ts';

const HEIGHT = 44;

const rowsOf = (from: number, until: number, named = (index: number) => `row ${index}`): RowInPage<string>[] =>
  Array.from({ length: until - from }, (_, place) => {
    const index = from + place;
    return { row: { id: named(index) } as Row<string>, index, start: index * HEIGHT };
  });

const byElement = (placed: readonly PlacedRow<string>[]): Record<number, string> =>
  Object.fromEntries(placed.map(({ element, row }) => [element, row.id]));

const isStill = () => true;
const isGone = () => false;

describe('at rest', () => {
  test('rows stand in the order in which they are read, each with an element of its own', () => {
    const placed = createRowPlaces<string>().place(rowsOf(3, 6), false, isStill);
    expect(placed.map(({ row, element, start }) => [row.id, element, start])).toEqual([
      ['row 3', 0, 132],
      ['row 4', 1, 176],
      ['row 5', 2, 220],
    ]);
  });

  test('a row keeps its element when the order is another one; what is new gets a new element', () => {
    const { place } = createRowPlaces<string>();
    place(rowsOf(0, 3), false, isStill);
    const sorted = [...rowsOf(1, 4)].reverse();
    const placed = place(sorted, false, isStill);
    expect(placed.map(({ row, element }) => [row.id, element])).toEqual([
      ['row 3', 3],
      ['row 2', 2],
      ['row 1', 1],
    ]);
  });

  test('the element of a row that went is given to no other one', () => {
    const { place } = createRowPlaces<string>();
    place(rowsOf(0, 2), false, isStill);
    place([], false, isStill);
    expect(byElement(place(rowsOf(0, 2), false, isStill))).toEqual({ 2: 'row 0', 3: 'row 1' });
  });
});

describe('while it passes', () => {
  test('what comes into sight takes over the elements of what went, in their order; the others stay as they are', () => {
    const { place } = createRowPlaces<string>();
    place(rowsOf(0, 4), false, isStill);
    const placed = place(rowsOf(2, 6), true, isStill);
    expect(placed.map(({ element, row }) => [element, row.id])).toEqual([
      [0, 'row 4'],
      [1, 'row 5'],
      [2, 'row 2'],
      [3, 'row 3'],
    ]);
  });

  test('what there is no element for gets a new one', () => {
    const { place } = createRowPlaces<string>();
    place(rowsOf(0, 1), false, isStill);
    expect(byElement(place(rowsOf(1, 4), true, isStill))).toEqual({ 0: 'row 1', 1: 'row 2', 2: 'row 3' });
  });

  test('what went and is not needed stays while it is still where it was, and is gone otherwise', () => {
    for (const [still, kept] of [
      [isStill, { 0: 'row 2', 1: 'row 1' }],
      [isGone, { 0: 'row 2' }],
    ] as const) {
      const { place } = createRowPlaces<string>();
      place(rowsOf(0, 2), false, isStill);
      expect(byElement(place(rowsOf(2, 3), true, still))).toEqual(kept);
    }
  });

  test('no element ever shows two rows, and no row has two elements, however it is scrolled', () => {
    const { place } = createRowPlaces<string>();
    for (const [step, from] of [0, 7, 3, 40, 38, 0, 12].entries()) {
      const rows = rowsOf(from, from + 10);
      const placed = place(rows, step % 3 !== 2, ({ index }) => index % 2 === 0);
      expect(new Set(placed.map(({ element }) => element)).size).toBe(placed.length);
      expect(new Set(placed.map(({ row }) => row.id)).size).toBe(placed.length);
      const shown = new Set(placed.map(({ row }) => row.id));
      for (const { row } of rows) expect(shown).toContain(row.id);
    }
  });
});
