import type { InternalCaRow } from '@sallyport/store/database/acme-tables';
import type { Executor } from '@sallyport/store/database/open';

/** The one that signs, and the one that is to follow it. There are no others. */
export const ROOTS = { active: 1, next: 2 } as const;
export type WhichRoot = keyof typeof ROOTS;

export const internalCaStore = (db: Executor) => ({
  async find(which: WhichRoot = 'active'): Promise<InternalCaRow | undefined> {
    return db.selectFrom('internal_ca').selectAll().where('id', '=', ROOTS[which]).executeTakeFirst();
  },

  async insert(row: Omit<InternalCaRow, 'id'>, which: WhichRoot = 'active'): Promise<void> {
    await db
      .insertInto('internal_ca')
      .values({ ...row, id: ROOTS[which] })
      .execute();
  },

  async delete(which: WhichRoot): Promise<void> {
    await db.deleteFrom('internal_ca').where('id', '=', ROOTS[which]).execute();
  },

  /** Puts the next one in the place of the one that signs, which is gone then with its key. */
  async takeOver(): Promise<void> {
    await this.delete('active');
    await db.updateTable('internal_ca').set({ id: ROOTS.active }).where('id', '=', ROOTS.next).execute();
  },
});
export type InternalCaStore = ReturnType<typeof internalCaStore>;
