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

  /**
   * Writes down that the one after `madeAt` was begun `at`, and gives the lease `until` back. Of several nodes that made it, as when
   * the lease of one ran out meanwhile, the first counts; a lease that somebody else has taken since stays with them.
   */
  async made({ madeAt, at, until }: { madeAt: string; at: string; until: string }): Promise<void> {
    await db
      .updateTable('backup_schedule')
      .set(({ eb }) => ({
        made_at: at,
        leased_until: eb.case().when('leased_until', '=', until).then('').else(eb.ref('leased_until')).end(),
      }))
      .where('id', '=', 1)
      .where('made_at', '=', madeAt)
      .execute();
  },
});
export type ScheduleStore = ReturnType<typeof scheduleStore>;
