import type { ApiToken, Role } from '@sallyport/contract';
import type { Selectable } from 'kysely';
import type { ApiTokenRow } from '../../database/account-tables.ts';
import type { Executor } from '../../database/open.ts';

type NewRow = Omit<Selectable<ApiTokenRow>, 'id' | 'last_used_at'>;

export const tokenStore = (db: Executor) => {
  const tokens = () =>
    db
      .selectFrom('api_tokens as t')
      .innerJoin('users as u', 'u.id', 't.user_id')
      .select(['t.id', 't.name', 't.role', 'u.email as owner', 't.hint', 't.expires_at', 't.last_used_at'])
      .select('t.created_at');
  const toToken = <Row extends { role: string }>(row: Row) => ({ ...row, role: row.role as Role });

  return {
    async list(): Promise<ApiToken[]> {
      return (await tokens().orderBy('t.id').execute()).map(toToken);
    },

    async find(id: number): Promise<ApiToken | undefined> {
      const row = await tokens().where('t.id', '=', id).executeTakeFirst();
      return row && toToken(row);
    },

    async insert(token: NewRow): Promise<number> {
      const { id } = await db
        .insertInto('api_tokens')
        .values({ ...token, last_used_at: null })
        .returning('id')
        .executeTakeFirstOrThrow();
      return id;
    },

    async delete(id: number): Promise<void> {
      await db.deleteFrom('api_tokens').where('id', '=', id).execute();
    },

    async owner(userId: number): Promise<{ role: string; status: string } | undefined> {
      return db.selectFrom('users').select(['role', 'status']).where('id', '=', userId).executeTakeFirst();
    },
  };
};
export type TokenStore = ReturnType<typeof tokenStore>;
