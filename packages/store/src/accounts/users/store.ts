import type { ListQuery } from '@sallyport/contract';
import type { StoredUser } from '../../database/account-tables.ts';
import { containsText, listOf, type Page, pageOf } from '../../database/listing.ts';
import type { Executor } from '../../database/open.ts';

const SORTABLE = ['email', 'name', 'role', 'status', 'last_login', 'created_at', 'updated_at'] as const;

export const userStore = (db: Executor) => ({
  async list(query: ListQuery): Promise<Page<StoredUser>> {
    const matching = db
      .selectFrom('users')
      .$if(query.search !== undefined, (rows) => rows.where(containsText(['email', 'name'], query.search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), (row) => row);
  },

  async find(id: number): Promise<StoredUser | undefined> {
    return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  },

  async findByEmail(email: string): Promise<StoredUser | undefined> {
    return db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
  },

  async insert(user: Omit<StoredUser, 'id'>): Promise<StoredUser> {
    return db.insertInto('users').values(user).returningAll().executeTakeFirstOrThrow();
  },

  async update(id: number, patch: Partial<Omit<StoredUser, 'id'>>): Promise<StoredUser> {
    return db.updateTable('users').set(patch).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('users').where('id', '=', id).execute();
  },

  /** Whether anybody but this user could still administer. */
  async hasOtherAdministrator(id: number): Promise<boolean> {
    const other = await db
      .selectFrom('users')
      .select('id')
      .where('role', '=', 'admin')
      .where('status', '=', 'active')
      .where('id', '!=', id)
      .limit(1)
      .executeTakeFirst();
    return other !== undefined;
  },

  async endSessions(id: number): Promise<void> {
    await db.deleteFrom('sessions').where('user_id', '=', id).execute();
  },

  /** Ends the invitations of a user that are still open. */
  async voidInvites(id: number, now: string): Promise<void> {
    await db
      .updateTable('invites')
      .set({ expires_at: now })
      .where('user_id', '=', id)
      .where('used_at', 'is', null)
      .where('expires_at', '>', now)
      .execute();
  },

  async clearTotp(id: number): Promise<void> {
    await db.updateTable('users').set({ totp_enabled: 0, totp_sealed: null }).where('id', '=', id).execute();
    await db.deleteFrom('recovery_codes').where('user_id', '=', id).execute();
  },
});
export type UserStore = ReturnType<typeof userStore>;
