import { randomBytes } from 'node:crypto';
import type { ApiToken, CreatedApiToken, ListQuery, NewApiToken } from '@sallyport/contract';
import type { Actor, RecordChange } from '../../actor.ts';
import { type Page, pageOfRows } from '../../database/listing.ts';
import type { Executor, TransactAside } from '../../database/open.ts';
import { refuse } from '../../errors.ts';
import { anyVersion } from '../../object-version.ts';
import { API_TOKEN_PREFIX } from '../../secrets/api-token.ts';
import { hashSecret } from '../../secrets/hash-secret.ts';
import type { TokenStore } from './store.ts';

export interface TokenDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => TokenStore;
  record: RecordChange;
  invalidate: () => void;
  clock: () => Date;
}

const HINT_LENGTH = 8;

export const createTokens = ({ db, transactAside, store, record, invalidate, clock }: TokenDeps) => {
  const checkExpiry = (expiresAt: string | null | undefined): string | null => {
    if (expiresAt == null) return null;
    const moment = Date.parse(expiresAt);
    if (!(moment > clock().getTime())) throw refuse.invalid('expires_at must be in the future');
    return new Date(moment).toISOString();
  };

  const findIn = async (executor: Executor, id: number): Promise<ApiToken> => {
    const token = await store(executor).find(id);
    if (!token) throw refuse.notFound('Token not found');
    return token;
  };

  return {
    async list(query: ListQuery): Promise<Page<ApiToken>> {
      return pageOfRows(await store(db).list(), query, {
        sortable: ['name', 'role', 'owner', 'expires_at', 'last_used_at', 'created_at'],
        searchable: ['name', 'owner', 'hint'],
      });
    },

    /** Throws a 404. */
    get: (id: number): Promise<ApiToken> => findIn(db, id),

    /**
     * Makes a token that acts for the user `ownerId`, with at most their rights. It is shown only here.
     * Throws a 400 for an expiry in the past, or an owner who is not active or has fewer rights.
     */
    async create(input: NewApiToken, ownerId: number, actor: Actor): Promise<CreatedApiToken> {
      const name = input.name.trim();
      if (name === '') throw refuse.invalid('name is required');
      const role = input.role ?? 'user';
      const expires_at = checkExpiry(input.expires_at);
      const token = `${API_TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
      const created = await transactAside(async (tx) => {
        const owner = await store(tx).owner(ownerId);
        if (owner?.status !== 'active') throw refuse.invalid('the owner of a token must be an active user');
        if (role === 'admin' && owner.role !== 'admin') throw refuse.invalid('role must not exceed the owner’s role');
        const id = await store(tx).insert({
          user_id: ownerId,
          name,
          role,
          token_hash: hashSecret(token),
          hint: token.slice(0, HINT_LENGTH),
          created_at: clock().toISOString(),
          expires_at,
        });
        const after = await store(tx).find(id);
        if (!after) throw new Error(`token ${id} is gone right after it was stored`);
        await record(tx, { action: 'token.create', actor, resource: `tokens/${id}`, after });
        return after;
      });
      invalidate();
      return { ...created, token };
    },

    /** Revokes a token at once. Throws a 404. */
    async remove(id: number, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transactAside(async (tx) => {
        const before = await findIn(tx, id);
        checkVersion(before);
        await store(tx).delete(id);
        await record(tx, { action: 'token.delete', actor, resource: `tokens/${id}`, before });
      });
      invalidate();
    },
  };
};
export type Tokens = ReturnType<typeof createTokens>;
