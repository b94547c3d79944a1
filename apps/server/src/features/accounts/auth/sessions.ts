import { randomUUID } from 'node:crypto';
import type { ListQuery, Role, Session, SignedIn } from '@sallyport/contract';
import { requireSession } from '@sallyport/store/accounts/session-only';
import { toUser } from '@sallyport/store/accounts/users/to-user';
import type { Actor, RecordChange, UserIdentity } from '@sallyport/store/actor';
import type { StoredUser } from '@sallyport/store/database/account-tables';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { SessionTokens } from './session-token.ts';
import type { AuthStore } from './store.ts';

export interface SessionDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => AuthStore;
  tokens: Pick<SessionTokens, 'sign' | 'keyId'>;
  record: RecordChange;
  invalidate: () => void;
  clock: () => Date;
}

const LIFETIME_MS = 24 * 3_600_000;
const MAX_USER_AGENT = 256;

export const createSessions = (deps: SessionDeps) => {
  const { db, transactAside, store, tokens, record, invalidate, clock } = deps;
  return {
    /** Starts a session in the transaction that proved who the user is, and records `action`. */
    async open(tx: Executor, user: StoredUser, actor: Actor, action: string): Promise<SignedIn> {
      const issuedAt = clock();
      // Whole seconds, as the token's claim has them.
      const expiresAt = new Date(Math.floor((issuedAt.getTime() + LIFETIME_MS) / 1000) * 1000);
      const now = issuedAt.toISOString();
      const sessionId = randomUUID();
      await store(tx).updateUser(user.id, { last_login: now });
      await store(tx).insertSession({
        id: sessionId,
        user_id: user.id,
        key_id: tokens.keyId,
        ip: actor.ip,
        user_agent: actor.userAgent.slice(0, MAX_USER_AGENT).replaceAll('\0', ''),
        created_at: now,
        last_seen_at: now,
        expires_at: expiresAt.toISOString(),
      });
      await store(tx).tidySessions(user.id, now);
      const role = user.role as Role;
      const identity: UserIdentity = {
        kind: 'user',
        id: user.id,
        email: user.email,
        role,
        sessionId,
        token: null,
        mustEnrolTotp: false,
      };
      await record(tx, { action, actor: { ...actor, identity }, resource: `users/${user.id}` });
      const token = await tokens.sign({ userId: user.id, sessionId, role, issuedAt, expiresAt });
      return { token, expires_at: expiresAt.toISOString(), user: toUser({ ...user, last_login: now }) };
    },

    async list(query: ListQuery, actor: Actor): Promise<Page<Session>> {
      const { id, sessionId } = requireSession(actor);
      const stored = await store(db).sessionsOf(id, tokens.keyId, clock().toISOString());
      const sessions = stored.map(({ user_id, key_id, ...session }) => ({
        ...session,
        is_current: session.id === sessionId,
      }));
      return pageOfRows(sessions, query, {
        sortable: ['created_at', 'last_seen_at', 'expires_at', 'ip'],
        searchable: ['ip', 'user_agent'],
      });
    },

    /** Ends one session of the caller. Throws a 404 when it isn't theirs. */
    async revoke(id: string, actor: Actor): Promise<void> {
      const user = requireSession(actor);
      await transactAside(async (tx) => {
        if (!(await store(tx).deleteSession(user.id, id))) throw refuse.notFound('Session not found');
        await record(tx, { action: 'auth.session_revoked', actor, resource: `auth/sessions/${id}` });
      });
      invalidate();
    },

    /** Ends the session the call was made with. */
    async logout(actor: Actor): Promise<void> {
      const { id, sessionId } = requireSession(actor);
      await transactAside(async (tx) => {
        await store(tx).deleteSession(id, sessionId);
        await record(tx, { action: 'auth.logout', actor, resource: `users/${id}` });
      });
      invalidate();
    },
  };
};
export type Sessions = ReturnType<typeof createSessions>;
