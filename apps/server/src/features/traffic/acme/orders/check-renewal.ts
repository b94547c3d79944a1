import type { Executor } from '@sallyport/store/database/open';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { clientOf, withClient } from '../accounts/client.ts';
import type { StoredAccount } from '../accounts/store.ts';
import type { Claim } from './attempt.ts';
import {
  checkAgainAt,
  isInWindow,
  laterOf,
  renewableFrom,
  renewalByLifetime,
  renewalInWindow,
} from './renewal-times.ts';
import type { OrderStore, OrderWithSubject } from './store.ts';

export interface RenewalCheckDeps {
  db: Executor;
  store: (executor: Executor) => OrderStore;
  findAccount: (id: number) => Promise<StoredAccount | undefined>;
  vault: Vault;
  clock: () => Date;
  /** Within 0 and 1. */
  random: () => number;
  log: Logger;
}

/** Makes what asks an authority when a certificate is to be renewed (RFC 9773), and keeps what it says. */
export const createRenewalCheck = ({ db, store, findAccount, vault, clock, random, log }: RenewalCheckDeps) => {
  const ask = async (row: OrderWithSubject, { signal }: Claim) => {
    const account = row.account_id === null ? undefined : await findAccount(row.account_id);
    if (!account) return undefined;
    return withClient(clientOf(account, vault, signal), clock, (client) => client.renewalInfo(row.chain_pem));
  };

  /** What is stored when the authority proposes this window. */
  const wish = (row: OrderWithSubject, start: Date, end: Date) => {
    const lifetime = { notBefore: new Date(row.not_before), notAfter: new Date(row.expires_at) };
    const window = { start, end };
    const chosen = row.renew_after === null ? null : new Date(row.renew_after);
    const moment =
      chosen && isInWindow(chosen, window)
        ? chosen
        : start >= lifetime.notAfter
          ? renewalByLifetime(lifetime, random())
          : renewalInWindow(window, clock(), random());
    const hadAt = row.last_attempt_at === null ? clock() : new Date(row.last_attempt_at);
    const renew_after = laterOf(moment, renewableFrom(lifetime, hadAt)).toISOString();
    // One that failed is tried again by its back-off.
    return { renew_after, ...(row.failures === 0 ? { next_attempt_at: renew_after } : {}) };
  };

  return async (row: OrderWithSubject, claim: Claim): Promise<void> => {
    const { token, signal } = claim;
    let fields: Parameters<OrderStore['release']>[2];
    try {
      const info = row.issuer === 'acme' && row.is_placeholder === 0 ? await ask(row, claim) : undefined;
      fields = info
        ? {
            ...wish(row, info.windowStart, info.windowEnd),
            ari_checked_until: checkAgainAt(clock(), info.retryAfter).toISOString(),
          }
        : { ari_checked_until: null };
    } catch (err) {
      if (!signal.aborted) log.info({ err, certificate: row.name }, 'the authority does not say when to renew');
      fields = signal.aborted ? {} : { ari_checked_until: checkAgainAt(clock()).toISOString() };
    }
    await store(db).release(row, token, fields);
  };
};
export type CheckRenewal = ReturnType<typeof createRenewalCheck>;
