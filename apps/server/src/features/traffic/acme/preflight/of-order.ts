import type { NewCertificateOrder, Preflight, PreflightCheck } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { Vault } from '@sallyport/store/secrets/vault';
import { Unusable } from '../../lost-secret.ts';
import { type ClientOf, clientOf, withClient } from '../accounts/client.ts';
import type { StoredAccount } from '../accounts/store.ts';
import { LimitReached, registeredDomainsOf } from '../orders/ledger/limits.ts';
import type { Ledger } from '../orders/ledger/service.ts';
import type { PlannedOrder } from '../orders/service.ts';
import { fault, fine } from './finding.ts';
import type { AcmePreflight } from './service.ts';

export interface OrderPreflightDeps {
  /** What an order would be; undefined for the internal authority. Throws a 400. */
  plan: (input: NewCertificateOrder) => Promise<PlannedOrder | undefined>;
  findAccount: (id: number) => Promise<StoredAccount | undefined>;
  vault: Pick<Vault, 'open'>;
  preflight: Pick<AcmePreflight, 'check'>;
  ledger: Pick<Ledger, 'check'>;
  /** What keeps the internal authority from signing; undefined when nothing does. */
  internalFault: () => Promise<Pick<Unusable, 'what' | 'fix'> | undefined>;
  tryRecord: (providerId: number, name: string) => Promise<{ ok: boolean; message: string }>;
  clock: () => Date;
}

/** Somebody waits for the answer: of more zones than this, the first are tried. */
const MOST_ZONES = 2;
const DIRECTORY_MS = 20_000;
/** Each asks name servers, addresses and perhaps a zone, for up to minutes. */
const MOST_AT_ONCE = 4;

/** Makes what looks at an order that somebody thinks of: what is looked at before each order, limits, and the zones. */
export const createOrderPreflight = (deps: OrderPreflightDeps) => {
  const checkLimits = async (account: StoredAccount, names: readonly string[]): Promise<PreflightCheck> => {
    try {
      await deps.ledger.check(account, names, false);
      return fine('limits', '', 'The limits of the authority leave room for it, as far as they are known.');
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      const fix = `Wait until ${error.until.toISOString()}, order for fewer names, or of another authority.`;
      return fault('limits', '', { message: `${error.message}.`, fix, isCertain: true });
    }
  };

  const checkZones = async (names: readonly string[], providerId: number): Promise<PreflightCheck[]> => {
    const domains = (await registeredDomainsOf(names)).slice(0, MOST_ZONES);
    const checks: PreflightCheck[] = [];
    for (const domain of domains) {
      const bare = names.map((name) => name.replace(/^\*\./, ''));
      const name = bare.find((one) => one === domain || one.endsWith(`.${domain}`)) ?? domain;
      const { ok, message } = await deps.tryRecord(providerId, name);
      checks.push(
        ok
          ? fine('zone', name, `${message}.`)
          : fault('zone', name, {
              message: `The zone can not be written: ${message}.`,
              fix: 'See that the DNS provider is the one of this zone, and that its credentials may change it.',
              isCertain: true,
            }),
      );
    }
    return checks;
  };

  /** An authority that nobody can order with. */
  const unusable = ({ what, fix }: Pick<Unusable, 'what' | 'fix'>): Preflight => ({
    ok: false,
    checks: [fault('account', '', { message: `${what}.`, fix: `To do: ${fix}.`, isCertain: true })],
  });

  const check = async (input: NewCertificateOrder): Promise<Preflight> => {
    const planned = await deps.plan(input);
    if (planned === undefined) {
      const inTheWay = await deps.internalFault();
      if (inTheWay) return unusable(inTheWay);
      return {
        ok: true,
        checks: [fine('account', '', 'The internal authority signs it at once: nothing is in the way.')],
      };
    }
    const { names, challenge, accountId, dnsProviderId } = planned;
    const account = await deps.findAccount(accountId);
    if (!account) throw refuse.invalid('account_id names no account');
    let client: ClientOf;
    try {
      client = clientOf(account, deps.vault, AbortSignal.timeout(DIRECTORY_MS));
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      return unusable(error);
    }
    const { checks } = await withClient(client, deps.clock, ({ directory }) =>
      deps.preflight.check({
        names,
        challenge,
        directoryUrl: account.directory_url,
        accountUrl: account.account_url,
        directory,
      }),
    );
    const all = [...checks, await checkLimits(account, names)];
    if (dnsProviderId !== null) all.push(...(await checkZones(names, dnsProviderId)));
    return { ok: all.every(({ ok }) => ok), checks: all };
  };

  let underWay = 0;
  return {
    /**
     * Tells what would keep an order from succeeding. Throws a 400 that names the field for what can be no order, and a 409 while as
     * many are looked at as may be.
     */
    async check(input: NewCertificateOrder): Promise<Preflight> {
      if (underWay >= MOST_AT_ONCE)
        throw refuse.conflict('Several orders are being looked at already: try again when they are done');
      underWay += 1;
      try {
        return await check(input);
      } finally {
        underWay -= 1;
      }
    },
  };
};
export type OrderPreflight = ReturnType<typeof createOrderPreflight>;
