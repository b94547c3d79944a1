import { hash } from 'node:crypto';
import type { UserIdentity } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { API_TOKEN_PREFIX } from '@sallyport/store/secrets/api-token';
import { hashSecret } from '@sallyport/store/secrets/hash-secret';
import type { Logger } from 'pino';
import type { SessionTokens } from './session-token.ts';
import type { AuthStore, LiveCredential } from './store.ts';

export interface IdentityDeps {
  db: Executor;
  store: (executor: Executor) => AuthStore;
  tokens: Pick<SessionTokens, 'read'>;
  /** Whether an administrator demands two-factor sign-in. */
  isTotpRequired: () => Promise<boolean>;
  clock: () => Date;
  log: Pick<Logger, 'warn'>;
}

/** How long another process (the command line, another node) may go unnoticed. */
const MAX_STALENESS_MS = 1_000;
const MAX_ENTRIES = 10_000;
const TOUCH_INTERVAL_MS = 60_000;

interface Known {
  identity: UserIdentity;
  readAt: number;
  expiresAt: number;
}

/**
 * Turns bearer tokens into identities, by the live state of session, token and user. What was found is remembered for
 * at most a second, and forgotten at once when this process changes an account: the next request already sees it.
 */
export const createIdentities = ({ db, store, tokens, isTotpRequired, clock, log }: IdentityDeps) => {
  let known = new Map<string, Known>();
  let version = 0;

  /** Stores when a credential was last used, to the minute; the request doesn't fail over it. */
  const touch = async (lastUsed: string | null, write: (now: string) => Promise<void>): Promise<void> => {
    const now = clock();
    if (lastUsed !== null && now.getTime() - Date.parse(lastUsed) < TOUCH_INTERVAL_MS) return;
    try {
      await write(now.toISOString());
    } catch (err) {
      log.warn({ err }, 'last use of a credential not stored');
    }
  };

  const isLive = (credential: LiveCredential): boolean =>
    credential.status === 'active' &&
    (credential.expires_at === null || Date.parse(credential.expires_at) > clock().getTime());

  const fromSession = async (token: string) => {
    const claims = await tokens.read(token);
    if (!claims) return undefined;
    const live = await store(db).liveSession(claims.sessionId, claims.userId);
    if (!live || !isLive(live)) return undefined;
    await touch(live.last_used_at, (now) => store(db).touchSession(claims.sessionId, now));
    const identity: UserIdentity = {
      kind: 'user',
      id: live.user_id,
      email: live.email,
      role: live.user_role === 'admin' ? 'admin' : 'user',
      sessionId: claims.sessionId,
      token: null,
      mustEnrolTotp: live.totp_enabled !== 1 && (await isTotpRequired()),
    };
    return { identity, live };
  };

  const fromApiToken = async (token: string) => {
    const live = await store(db).liveToken(hashSecret(token));
    if (!live || !isLive(live)) return undefined;
    await touch(live.last_used_at, (now) => store(db).touchToken(live.token_id, now));
    const identity: UserIdentity = {
      kind: 'user',
      id: live.user_id,
      email: live.email,
      // A token never has more rights than its owner has now.
      role: live.token_role === 'admin' && live.user_role === 'admin' ? 'admin' : 'user',
      sessionId: null,
      token: { id: live.token_id, name: live.token_name },
      mustEnrolTotp: false,
    };
    return { identity, live };
  };

  const look = async (token: string, key: string): Promise<UserIdentity | undefined> => {
    const versionBefore = version;
    const readAt = clock().getTime();
    const found = token.startsWith(API_TOKEN_PREFIX) ? await fromApiToken(token) : await fromSession(token);
    if (!found) return undefined;
    const expiresAt = found.live.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(found.live.expires_at);
    // An account changed while this was read: what was read may be older than the change.
    if (version === versionBefore) {
      if (known.size >= MAX_ENTRIES) known = new Map();
      known.set(key, { identity: found.identity, readAt, expiresAt });
    }
    return found.identity;
  };

  return {
    /** Resolves to undefined for a token that is wrong, expired, revoked or of a user who may not sign in. */
    resolve(token: string): UserIdentity | Promise<UserIdentity | undefined> {
      // Digests as keys: how long a look-up takes tells nothing about tokens.
      const key = hash('sha256', token, 'base64url');
      const now = clock().getTime();
      const entry = known.get(key);
      const isFresh = entry && now >= entry.readAt && now - entry.readAt < MAX_STALENESS_MS && now < entry.expiresAt;
      return isFresh ? entry.identity : look(token, key);
    },

    /** Forgets everything; to be called after any change of users, sessions, tokens or the two-factor rule. */
    invalidate(): void {
      version += 1;
      known = new Map();
    },
  };
};
