import { type Loss, loss } from '../loss.ts';
import type { Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import type { Row } from './open.ts';

/** A text of a row; empty for what is none. */
export const text = (row: Row, column: string): string => {
  const cell = row[column];
  return typeof cell === 'string' ? cell : typeof cell === 'number' ? String(cell) : '';
};

/** Whether a cell says yes; `otherwise` where the table has no such column, or the cell is empty. */
export const flag = (row: Row, column: string, otherwise = false): boolean => {
  const cell = row[column];
  if (cell === undefined || cell === null || cell === '') return otherwise;
  return !(cell === 0 || cell === '0' || cell === 'false');
};

/** A whole number of a row; 0 for what is none. */
export const number = (row: Row, column: string): number => {
  const cell = Number(row[column] ?? 0);
  return Number.isSafeInteger(cell) ? cell : 0;
};

const json = (written: string): unknown => {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
};

/** The id of a row of another table: 0 for none, and -1, which no row has, for what is no id. */
export const reference = (row: Row, column: string): number => {
  const written = text(row, column).trim();
  if (written === '') return 0;
  const id = Number(written);
  return Number.isSafeInteger(id) && id >= 0 ? id : -1;
};

/** Whether a row is in force: where the table has no such column it is, and what is neither yes nor no is no. */
export const isEnabled = (row: Row): boolean => {
  const cell = row.enabled;
  return cell === undefined || cell === null || ['1', 'true', 't'].includes(text(row, 'enabled').toLowerCase());
};

const EMPTY = new Set(['', '0', '[]', 'false', 'none', 'null', '{}']);
const MAY_KEEP_OUT =
  /auth|access|allow|acl|block|client_?cert|deny|geo|guard|ip_|list|login|maintenance|mtls|oidc|password|protect|restrict|sso/;

/** What columns say that a newer version may have: those that sound like it may have kept requests out. */
export const lossesOfUnknown = (row: Row, known: ReadonlySet<string>, place: Place): Loss[] =>
  Object.keys(row)
    .filter((column) => !known.has(column) && !EMPTY.has(text(row, column).trim().toLowerCase()))
    .map((column) => {
      const keptOut = MAY_KEEP_OUT.test(column.toLowerCase());
      const may = keptOut ? ': it may have kept requests out' : '';
      return loss(place, `the column ${shorten(column)} is not known here and not taken over${may}`, keptOut);
    });

/** A list that is kept as JSON; undefined when it is none. An empty cell is an empty list. */
export const list = (row: Row, column: string): unknown[] | undefined => {
  const written = text(row, column);
  if (written.trim() === '' || written.trim() === 'null') return [];
  const parsed = json(written);
  return Array.isArray(parsed) ? parsed : undefined;
};

/** An object that is kept as JSON; undefined when it is none. */
export const object = (row: Row, column: string): Readonly<Record<string, unknown>> | undefined => {
  const parsed = json(text(row, column));
  return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
};

/** Where a row stands: its table, and its id in the place of a line. */
export const placeOf = (file: string, table: string, row: Row): Place => ({
  file: `${file}: ${table}`,
  line: Math.max(1, number(row, 'id')),
});
