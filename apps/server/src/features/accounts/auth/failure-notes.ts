import type { ChangeEntry } from '@sallyport/store/actor';

export interface FailureNoteDeps {
  note: (entry: ChangeEntry) => Promise<void>;
  clock: () => Date;
  /** Entries that are written one by one in a window. */
  maxListed?: number;
}

const WINDOW_MS = 15 * 60_000;
const MAX_LISTED = 1_000;

/**
 * Records refused sign-ins one by one up to a number that no honest mistake reaches; beyond it they are counted, so
 * that a flood from many addresses can't fill the disk. The trail says where counting began and how many there were.
 */
export const createFailureNotes = ({ note, clock, maxListed = MAX_LISTED }: FailureNoteDeps) => {
  let endsAt = 0;
  let listed = 0;
  let counted = 0;

  return async (entry: ChangeEntry): Promise<void> => {
    const now = clock().getTime();
    if (now >= endsAt) {
      const missed = counted;
      endsAt = now + WINDOW_MS;
      listed = 0;
      counted = 0;
      if (missed > 0) await note({ ...entry, action: 'auth.failures_counted', after: { not_listed: missed } });
    }
    listed += 1;
    if (listed <= maxListed) return note(entry);
    counted += 1;
    if (counted === 1) await note({ ...entry, action: 'auth.failures_counted', after: { listed: maxListed } });
  };
};
