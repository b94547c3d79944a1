import type { InviteRow } from '@sallyport/store/database/account-tables';
import type { Executor } from '@sallyport/store/database/open';
import type { Selectable } from 'kysely';

export interface InviteOfUser extends Selectable<InviteRow> {
  email: string;
  status: string;
}

export const inviteStore = (db: Executor) => ({
  async find(tokenHash: string): Promise<InviteOfUser | undefined> {
    return db
      .selectFrom('invites as i')
      .innerJoin('users as u', 'u.id', 'i.user_id')
      .selectAll('i')
      .select(['u.email', 'u.status'])
      .where('i.token_hash', '=', tokenHash)
      .executeTakeFirst();
  },

  async insert(invite: Omit<Selectable<InviteRow>, 'id' | 'used_at'>): Promise<void> {
    await db
      .insertInto('invites')
      .values({ ...invite, used_at: null })
      .execute();
  },

  async use(id: number, now: string): Promise<void> {
    await db.updateTable('invites').set({ used_at: now }).where('id', '=', id).execute();
  },
});
export type InviteStore = ReturnType<typeof inviteStore>;
