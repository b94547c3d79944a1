import { setImmediate as yieldToOthers } from 'node:timers/promises';

/** So many rows of some tens of columns stay below the values that SQLite binds in a statement: 32,766. */
const ROWS_A_STATEMENT = 500;

/**
 * Rows in portions that one statement takes. Between them others get their turn: a store in this process answers at once, and nothing
 * else would be done until all are through.
 */
export async function* inPortions<Row>(
  rows: readonly Row[],
  size: number = ROWS_A_STATEMENT,
): AsyncGenerator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += size) {
    if (from > 0) await yieldToOthers();
    yield rows.slice(from, from + size);
  }
}
