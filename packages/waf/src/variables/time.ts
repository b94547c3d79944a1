import type { Transaction } from '../model/transaction.ts';

const part =
  (read: (date: Date) => number, width = 0) =>
  (tx: Transaction): string =>
    String(read(new Date(tx.request.now))).padStart(width, '0');

/** TIME… of the request, in UTC: a rule set must mean the same on every machine. */
export const timeVariables = {
  TIME: (tx: Transaction): string => new Date(tx.request.now).toISOString().slice(11, 19),
  TIME_EPOCH: (tx: Transaction): number => Math.floor(tx.request.now / 1_000),
  TIME_YEAR: part((date) => date.getUTCFullYear()),
  TIME_MON: part((date) => date.getUTCMonth()),
  TIME_DAY: part((date) => date.getUTCDate()),
  TIME_WDAY: part((date) => date.getUTCDay()),
  TIME_HOUR: part((date) => date.getUTCHours(), 2),
  TIME_MIN: part((date) => date.getUTCMinutes(), 2),
  TIME_SEC: part((date) => date.getUTCSeconds(), 2),
} as const;
