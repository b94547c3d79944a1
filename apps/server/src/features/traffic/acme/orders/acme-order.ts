import {
  type AcmeClient,
  AcmeProblem,
  AcmeProtocolError,
  ariCertificateId,
  type KeyType,
  makeCertificateKey,
  makeCsr,
  type Order,
  sameNames,
} from '@sallyport/acme';
import type { AcmePreflight } from '../preflight/service.ts';
import type { AcmeAttempt } from './acme-attempt.ts';
import { CannotOrder } from './failure.ts';
import type { Ledger } from './ledger/service.ts';
import { failedNamesOf, type ProvingDeps, proveNames } from './prove.ts';
import type { OrderWithSubject } from './store.ts';

export interface AcmeOrderDeps extends ProvingDeps {
  ledger: Ledger;
  preflight: Pick<AcmePreflight, 'check'>;
  clock: () => Date;
}

const isGone = (error: unknown): boolean =>
  error instanceof AcmeProtocolError ||
  (error instanceof AcmeProblem && (error.status === 404 || error.is('malformed') || error.is('unauthorized')));

/** What ARI calls the certificate that this order follows; undefined when it follows none of this authority. */
export const predecessorOf = ({ is_placeholder, chain_pem, domains, names }: OrderWithSubject): string | undefined => {
  if (is_placeholder === 1) return undefined;
  // RFC 9773, section 5: they have to share a name.
  const shared = domains.split(',').some((name) => names.split(',').includes(name));
  if (!shared) return undefined;
  try {
    return ariCertificateId(chain_pem);
  } catch {
    return undefined;
  }
};

/** Has an authority issue a certificate, from wherever the last attempt got. Resolves with its chain and key. */
export const createAcmeOrder = (deps: AcmeOrderDeps) => {
  const { ledger, preflight, clock } = deps;

  /** Looks, before the authority is told of it, at what would keep an order from succeeding. */
  const look = async ({ row, account, client, steps }: AcmeAttempt): Promise<void> => {
    await steps.enter('preflight', 'Looks whether the names lead here, and may be certified.');
    // One that can't be reached is told in words of its own, and is tried again when it says so.
    await client.directory();
    const { checks } = await preflight.check({
      names: row.names.split(','),
      challenge: row.challenge ?? 'http-01',
      directoryUrl: account.directory_url,
      accountUrl: account.account_url,
      directory: client.directory,
    });
    const faults = checks.filter(({ ok }) => !ok);
    const certain = faults.find(({ blocks }) => blocks);
    if (certain) throw new CannotOrder(`${certain.message} ${certain.fix ?? ''}`.trim());
    const [doubt] = faults;
    if (doubt) await steps.enter('preflight', `${doubt.message} That may look so from here only.`);
  };

  /**
   * The order that was under way, unless the authority is done with it. What failed while nobody was there to hear of it is noted, for
   * the authority has counted it.
   */
  const takeUp = async ({
    row,
    account,
    client,
    underWay,
  }: AcmeAttempt): Promise<{ order: Order; keyPem: string } | undefined> => {
    if (!underWay) return undefined;
    try {
      const order = await client.order(underWay.url);
      const isOver = order.status === 'invalid' || (order.expires !== undefined && order.expires <= clock());
      if (!isOver && sameNames(order.names, row.names.split(','))) return { order, keyPem: underWay.keyPem };
      if (order.status === 'invalid') await ledger.failed(account, await failedNamesOf(client, order));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    return undefined;
  };

  const request = async (
    client: AcmeClient,
    names: readonly string[],
    replaces: string | undefined,
  ): Promise<Order> => {
    try {
      return await client.newOrder({ names, replaces });
    } catch (error) {
      // The certificate before is not known there: it came from another authority, or was forgotten.
      if (replaces === undefined || !(error instanceof AcmeProblem)) throw error;
      if (!error.is('malformed') && error.status !== 404 && error.status !== 409) throw error;
      return client.newOrder({ names });
    }
  };

  const begin = async ({ row, account, client, keep }: AcmeAttempt): Promise<{ order: Order; keyPem: string }> => {
    const names = row.names.split(',');
    const { renewalInfo } = await client.directory();
    const replaces = renewalInfo === undefined ? undefined : predecessorOf(row);
    const entry = await ledger.enter(account, names, replaces !== undefined);
    const keyPem = await makeCertificateKey(row.key_type as KeyType);
    let order: Order;
    try {
      order = await request(client, names, replaces);
    } catch (error) {
      // Made or not, nobody can finish an order whose address never came: no certificate comes of it.
      await ledger.settle(entry, 'refused');
      throw error;
    }
    await keep({ url: order.url, keyPem });
    return { order, keyPem };
  };

  const issue = async ({ row, client, steps }: AcmeAttempt, ready: Order, keyPem: string): Promise<string> => {
    const names = row.names.split(',');
    await steps.enter('issue', `The authority is asked for the certificate, with a key ${row.key_type}.`);
    let order = ready;
    if (order.status === 'ready') order = await client.finalize(order, await makeCsr({ names, keyPem }));
    if (order.status !== 'valid') order = await client.waitForOrder(order.url);
    if (order.certificate === undefined) {
      throw new AcmeProtocolError(order.url, `the order is ${order.status} and has no certificate`);
    }
    return client.certificate(order.certificate, { names, keyPem });
  };

  return async (attempt: AcmeAttempt): Promise<{ chainPem: string; keyPem: string }> => {
    const { account, client, steps, underWay } = attempt;
    if (!underWay) await look(attempt);
    await steps.enter('account', `Orders with ${account.name} at ${new URL(account.directory_url).host}.`);
    if (account.account_url === null)
      throw new CannotOrder(`The account ${account.name} is not registered: add it anew`);
    await steps.enter('order', 'Asks the authority for an order.');
    const { order, keyPem } = (await takeUp(attempt)) ?? (await begin(attempt));
    if (order.status === 'pending') await proveNames(deps, attempt, order);
    const ready = order.status === 'valid' ? order : await client.waitForOrder(order.url);
    const chainPem = await issue(attempt, ready, keyPem);
    return { chainPem, keyPem };
  };
};
export type AcmeOrder = ReturnType<typeof createAcmeOrder>;
