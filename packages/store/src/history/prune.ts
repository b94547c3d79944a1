import type { Executor } from '../database/open.ts';
import { confirmationStore } from './confirmations.ts';
import { historyStore } from './store.ts';

const MAX_ID = 2_147_483_647;
const DAY_MS = 86_400_000;
/** Few enough that nobody waits long for the store meanwhile. */
const CHANGES_A_DELETION = 2_000;

export interface HistoryLimits {
  /** Older changes go; 0: none for its age. */
  days: number;
  /** What all changes together may take. */
  bytes: number;
}

const lastTooMuch = async (db: Executor, limit: number): Promise<number | undefined> => {
  let sum = 0;
  for await (const portion of historyStore(db).sizes()) {
    for (const { id, bytes } of portion) {
      sum += bytes;
      if (sum > limit) return id;
    }
  }
  return undefined;
};

/** Removes the oldest changes, by their age and by the room that all take. Returns how many went. */
export const pruneHistory = async (db: Executor, now: Date, { days, bytes }: HistoryLimits): Promise<number> => {
  const store = historyStore(db);
  const tooOld = days === 0 ? undefined : await store.lastBefore(new Date(now.getTime() - days * DAY_MS).toISOString());
  // What may have to go back by itself is needed for that.
  const [waiting] = await confirmationStore(db).changes();
  const last = Math.min(Math.max(tooOld ?? 0, (await lastTooMuch(db, bytes)) ?? 0), (waiting?.change ?? MAX_ID) - 1);
  let removed = 0;
  for (let gone = last === 0 ? 0 : CHANGES_A_DELETION; gone === CHANGES_A_DELETION; removed += gone) {
    gone = await store.deleteUpTo(last, CHANGES_A_DELETION);
  }
  return removed;
};
