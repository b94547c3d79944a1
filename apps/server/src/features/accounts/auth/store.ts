import type { SessionRow, StoredUser } from '@sallyport/store/database/account-tables';
import type { Executor } from '@sallyport/store/database/open';
import type { Selectable } from 'kysely';

export type StoredSession = Selectable<SessionRow>;

/** A session or an API token together with the live state of its user. */
export interface LiveCredential {
  user_id: number;
  email: string;
  user_role: string;
  status: string;
  totp_enabled: number;
  expires_at: string | null;
  last_used_at: string | null;
}

export interface LiveToken extends LiveCredential {
  token_id: number;
  token_name: string;
  token_role: string;
}

const MAX_SESSIONS = 50;

export const authStore = (db: Executor) => ({
  async findByEmail(email: string): Promise<StoredUser | undefined> {
    return db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
  },

  async find(id: number): Promise<StoredUser | undefined> {
    return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  },

  async hasAdministrator(): Promise<boolean> {
    const found = await db
      .selectFrom('users')
      .select('id')
      .where('role', '=', 'admin')
      .where('status', '!=', 'pending')
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  },

  async insertUser(user: Omit<StoredUser, 'id'>): Promise<StoredUser> {
    return db.insertInto('users').values(user).returningAll().executeTakeFirstOrThrow();
  },

  async updateUser(id: number, patch: Partial<StoredUser>): Promise<void> {
    await db.updateTable('users').set(patch).where('id', '=', id).execute();
  },

  async insertSession(session: StoredSession): Promise<void> {
    await db.insertInto('sessions').values(session).execute();
  },

  /** Removes what is over, and the oldest beyond the number of sessions a user may have. */
  async tidySessions(userId: number, now: string): Promise<void> {
    await db.deleteFrom('sessions').where('expires_at', '<=', now).execute();
    const kept = db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .orderBy('created_at', 'desc')
      .limit(MAX_SESSIONS);
    await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', 'not in', kept).execute();
  },

  async sessionsOf(userId: number, keyId: string, now: string): Promise<StoredSession[]> {
    return db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .where('key_id', '=', keyId)
      .where('expires_at', '>', now)
      .orderBy('created_at', 'desc')
      .execute();
  },

  /** Returns whether there was such a session of this user. */
  async deleteSession(userId: number, id: string): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  },

  async deleteSessions(userId: number): Promise<void> {
    await db.deleteFrom('sessions').where('user_id', '=', userId).execute();
  },

  async liveSession(id: string, userId: number): Promise<LiveCredential | undefined> {
    return db
      .selectFrom('sessions as s')
      .innerJoin('users as u', 'u.id', 's.user_id')
      .select(['u.id as user_id', 'u.email', 'u.role as user_role', 'u.status', 'u.totp_enabled'])
      .select(['s.expires_at', 's.last_seen_at as last_used_at'])
      .where('s.id', '=', id)
      .where('u.id', '=', userId)
      .executeTakeFirst();
  },

  async liveToken(tokenHash: string): Promise<LiveToken | undefined> {
    return db
      .selectFrom('api_tokens as t')
      .innerJoin('users as u', 'u.id', 't.user_id')
      .select(['u.id as user_id', 'u.email', 'u.role as user_role', 'u.status', 'u.totp_enabled'])
      .select(['t.id as token_id', 't.name as token_name', 't.role as token_role', 't.expires_at', 't.last_used_at'])
      .where('t.token_hash', '=', tokenHash)
      .executeTakeFirst();
  },

  async touchSession(id: string, now: string): Promise<void> {
    await db.updateTable('sessions').set({ last_seen_at: now }).where('id', '=', id).execute();
  },

  async touchToken(id: number, now: string): Promise<void> {
    await db.updateTable('api_tokens').set({ last_used_at: now }).where('id', '=', id).execute();
  },

  async setRecoveryCodes(userId: number, hashes: readonly string[]): Promise<void> {
    await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
    const rows = hashes.map((code_hash) => ({ user_id: userId, code_hash }));
    if (rows.length > 0) await db.insertInto('recovery_codes').values(rows).execute();
  },

  /** Uses a recovery code up; returns whether there was one. */
  async takeRecoveryCode(userId: number, codeHash: string): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('recovery_codes')
      .where('user_id', '=', userId)
      .where('code_hash', '=', codeHash)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  },
});
export type AuthStore = ReturnType<typeof authStore>;
