import type { Executor } from '@sallyport/store/database/open';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { clientOf, withClient } from '../accounts/client.ts';
import type { StoredAccount } from '../accounts/store.ts';
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

/** Longer than an authority may take to answer. Who was killed over it is followed by another one then. */
const ASKING_MS = 10 * 60_000;

/** Makes what asks an authority when a certificate is to be renewed (RFC 9773), and keeps what it says. */
export const createRenewalCheck = ({ db, store, findAccount, vault, clock, random, log }: RenewalCheckDeps) => {
  const ask = async (row: OrderWithSubject, signal: AbortSignal) => {
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

  /** What is to be stored of what the authority says. */
  const learn = async (row: OrderWithSubject, signal: AbortSignal): Promise<Parameters<OrderStore['endCheck']>[2]> => {
    try {
      const info = row.issuer === 'acme' && row.is_placeholder === 0 ? await ask(row, signal) : undefined;
      if (!info) return { ari_checked_until: null };
      return {
        ...wish(row, info.windowStart, info.windowEnd),
        ari_checked_until: checkAgainAt(clock(), info.retryAfter).toISOString(),
      };
    } catch (err) {
      if (signal.aborted) return { ari_checked_until: row.ari_checked_until };
      log.info({ err, certificate: row.name }, 'the authority does not say when to renew');
      return { ari_checked_until: checkAgainAt(clock()).toISOString() };
    }
  };

  /**
   * The order itself is nobody's meanwhile: an authority that does not answer keeps nobody from renewing it, least of all who asks
   * for that by hand.
   */
  return async (certificateId: number, signal: AbortSignal): Promise<void> => {
    const row = await store(db).find(certificateId);
    if (!row) return;
    const until = new Date(clock().getTime() + ASKING_MS).toISOString();
    if (!(await store(db).beginCheck(row, until))) return;
    await store(db).endCheck(row, until, await learn(row, signal));
  };
};
export type CheckRenewal = ReturnType<typeof createRenewalCheck>;
