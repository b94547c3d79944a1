import type { ChallengeAnswer } from '@sallyport/haproxy';
import type { Executor } from '@sallyport/store/database/open';

/** SQLite binds at most 32,766 values a statement; a row has four. */
const ROWS_A_STATEMENT = 5_000;

export const challengeStore = (db: Executor) => ({
  /** Answers whose time is not over at `now` (ISO). */
  async live(now: string): Promise<ChallengeAnswer[]> {
    const rows = await db
      .selectFrom('acme_challenges')
      .select(['token', 'key_authorization'])
      .where('expires_at', '>', now)
      .orderBy('token')
      .execute();
    return rows.map(({ token, key_authorization }) => ({ token, keyAuthorization: key_authorization }));
  },

  /** Adds answers, or replaces those of the same tokens. */
  async put(answers: readonly ChallengeAnswer[], times: { created_at: string; expires_at: string }): Promise<void> {
    for (let from = 0; from < answers.length; from += ROWS_A_STATEMENT) {
      const rows = answers
        .slice(from, from + ROWS_A_STATEMENT)
        .map(({ token, keyAuthorization }) => ({ token, key_authorization: keyAuthorization, ...times }));
      await db
        .insertInto('acme_challenges')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('token').doUpdateSet((eb) => ({
            key_authorization: eb.ref('excluded.key_authorization'),
            created_at: eb.ref('excluded.created_at'),
            expires_at: eb.ref('excluded.expires_at'),
          })),
        )
        .execute();
    }
  },

  async remove(tokens: readonly string[]): Promise<void> {
    for (let from = 0; from < tokens.length; from += ROWS_A_STATEMENT) {
      await db
        .deleteFrom('acme_challenges')
        .where('token', 'in', tokens.slice(from, from + ROWS_A_STATEMENT))
        .execute();
    }
  },

  /** Removes those whose time is over; resolves with how many. */
  async removeExpired(now: string): Promise<number> {
    const { numDeletedRows } = await db
      .deleteFrom('acme_challenges')
      .where('expires_at', '<=', now)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  },
});
