import type { Executor } from '@sallyport/store/database/open';

/** The one row of `backup_schedule`, of all nodes on this store; moments are ISO texts in UTC, which sort by time. */
export const scheduleStore = (db: Executor) => ({
  /** When the last scheduled backup was begun; empty when there was none. */
  async madeAt(): Promise<string> {
    const row = await db.selectFrom('backup_schedule').select('made_at').where('id', '=', 1).executeTakeFirst();
    return row?.made_at ?? '';
  },

  /**
   * Takes the next one upon the caller until `until`; false when somebody else is at it, or has made one since `madeAt`. A
   * lease beyond `until` is of a clock that went wrong, and holds nobody up.
   */
  async claim({ madeAt, now, until }: { madeAt: string; now: string; until: string }): Promise<boolean> {
    const claimed = await db
      .insertInto('backup_schedule')
      .values({ id: 1, made_at: madeAt, leased_until: until })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ leased_until: until })
          .where('backup_schedule.made_at', '=', madeAt)
          .where(({ or, eb }) =>
            or([eb('backup_schedule.leased_until', '<=', now), eb('backup_schedule.leased_until', '>', until)]),
          ),
      )
      .returning('id')
      .execute();
    return claimed.length > 0;
  },

  async made(at: string): Promise<void> {
    await db.updateTable('backup_schedule').set({ made_at: at, leased_until: '' }).where('id', '=', 1).execute();
  },
});
export type ScheduleStore = ReturnType<typeof scheduleStore>;
