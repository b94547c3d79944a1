import type { Setting, SettingKey } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';

export const settingStore = (db: Executor) => ({
  async all(): Promise<Setting[]> {
    return db.selectFrom('settings').selectAll().orderBy('key').execute();
  },

  async get(key: SettingKey): Promise<string | undefined> {
    return (await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst())?.value;
  },

  async set(key: SettingKey, value: string): Promise<void> {
    await db
      .insertInto('settings')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  },

  async delete(key: SettingKey): Promise<void> {
    await db.deleteFrom('settings').where('key', '=', key).execute();
  },
});
export type SettingStore = ReturnType<typeof settingStore>;
