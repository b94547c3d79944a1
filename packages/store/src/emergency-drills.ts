import type { Executor } from './database/open.ts';
import type { EmergencyDrillRow } from './database/security-tables.ts';

/** Drills of the emergency path, of all nodes on this store; moments are ISO texts in UTC, which sort by time. */
export type DrillRecord = Omit<EmergencyDrillRow, 'id'>;

/** The one row of `emergency_drills`. */
export const drillStore = (db: Executor) => ({
  /** Undefined before anything was written. */
  async read(): Promise<DrillRecord | undefined> {
    const row = await db.selectFrom('emergency_drills').selectAll().where('id', '=', 1).executeTakeFirst();
    if (!row) return undefined;
    const { id, ...record } = row;
    return record;
  },

  /**
   * Writes down that a drill begins at `now`, unless one has begun after `before`. Resolves to whether it was written; a moment
   * that is yet to come, of a clock that went wrong, holds nobody up.
   */
  async begin(now: string, before: string): Promise<boolean> {
    const written = await db
      .insertInto('emergency_drills')
      .values({ id: 1, since: now, tried_at: now, proven_at: null, told_at: null })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ tried_at: now })
          .where(({ or, eb }) =>
            or([
              eb('emergency_drills.tried_at', 'is', null),
              eb('emergency_drills.tried_at', '<=', before),
              eb('emergency_drills.tried_at', '>', now),
            ]),
          ),
      )
      .returning('id')
      .execute();
    return written.length > 0;
  },

  /** Every check of a drill succeeded. */
  async prove(now: string): Promise<void> {
    await db.updateTable('emergency_drills').set({ proven_at: now }).where('id', '=', 1).execute();
  },

  /** Takes it upon the caller to tell that the last proof is long ago; false when somebody did after `before`. */
  async claimTelling(now: string, before: string): Promise<boolean> {
    const claimed = await db
      .updateTable('emergency_drills')
      .set({ told_at: now })
      .where('id', '=', 1)
      .where(({ or, eb }) => or([eb('told_at', 'is', null), eb('told_at', '<=', before), eb('told_at', '>', now)]))
      .returning('id')
      .execute();
    return claimed.length > 0;
  },
});
