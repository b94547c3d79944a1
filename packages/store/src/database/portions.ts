/** So many rows of some tens of columns stay below the values that SQLite binds in a statement: 32,766. */
const ROWS_A_STATEMENT = 500;

/** Splits rows into portions that one statement takes. */
export const portionsOf = <Row>(rows: readonly Row[], size: number = ROWS_A_STATEMENT): Row[][] => {
  const portions: Row[][] = [];
  for (let from = 0; from < rows.length; from += size) portions.push(rows.slice(from, from + size));
  return portions;
};
