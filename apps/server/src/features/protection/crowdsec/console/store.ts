import type { Executor } from '@sallyport/store/database/open';
import type { ConsoleEnrollmentRow } from '@sallyport/store/database/security-tables';

export const consoleStore = (db: Executor) => ({
  find: (): Promise<ConsoleEnrollmentRow | undefined> =>
    db.selectFrom('console_enrollments').selectAll().executeTakeFirst(),

  async add(row: Omit<ConsoleEnrollmentRow, 'id'>): Promise<void> {
    await db
      .insertInto('console_enrollments')
      .values({ id: 1, ...row })
      .execute();
  },

  async remove(): Promise<void> {
    await db.deleteFrom('console_enrollments').execute();
  },
});
export type ConsoleStore = ReturnType<typeof consoleStore>;
