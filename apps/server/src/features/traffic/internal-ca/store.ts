import type { InternalCaRow } from '@sallyport/store/database/acme-tables';
import type { Executor } from '@sallyport/store/database/open';

/** There is one. */
const ID = 1;

export const internalCaStore = (db: Executor) => ({
  async find(): Promise<InternalCaRow | undefined> {
    return db.selectFrom('internal_ca').selectAll().where('id', '=', ID).executeTakeFirst();
  },

  async insert(row: Omit<InternalCaRow, 'id'>): Promise<void> {
    await db
      .insertInto('internal_ca')
      .values({ ...row, id: ID })
      .execute();
  },
});
export type InternalCaStore = ReturnType<typeof internalCaStore>;
