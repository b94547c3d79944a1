import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { Preflight, PreflightCheck } from '@sallyport/contract';
import type { SiteAnswer } from '../../../../net/ask-site.ts';
import { isBlockedAddress } from '../../../../net/blocked-addresses.ts';
import type { NameServers } from '../../../../net/name-servers.ts';
import type { AcmeChallenges } from '../challenges/service.ts';
import { checkCaa } from './caa.ts';
import { fault, fine } from './finding.ts';
import { checkPort, type OwnAnswer } from './port-80.ts';
import { checkResolves } from './resolves.ts';

/** An order that is to be looked at, with all that it refers to. */
export interface WantedOrder {
  names: readonly string[];
  challenge: string;
  directoryUrl: string;
  accountUrl: string | null;
  /** What the directory says of itself; rejects when it can't be had. */
  directory: () => Promise<{ caaIdentities: readonly string[] }>;
}

export interface PreflightDeps {
  nameServers: () => Promise<Pick<NameServers, 'addresses' | 'authoritiesOf'>>;
  challenges: Pick<AcmeChallenges, 'publish' | 'withdraw'>;
  /** GET of a path at an address under a name. */
  get: (
    door: { address: string; port: number },
    name: string,
    path: string,
    signal: AbortSignal,
  ) => Promise<SiteAnswer>;
  /** Where authorities ask for HTTP-01. */
  port: () => Promise<number>;
  /** Addresses of the directory's host. */
  lookup: (name: string) => Promise<string[]>;
  /** How long all of it may take. Default 40 seconds. */
  wholeMs?: number;
}

/** All of it; what is not looked at by then is told. */
const WHOLE_MS = 40_000;
/** Names that are looked at side by side. */
const AT_ONCE = 8;
/** A CA that listens for these asks from here. */
const MOST_ADDRESSES = 8;

/** An answer that nobody else can give, in the form of one to a challenge. */
const ownAnswer = (): OwnAnswer => {
  const token = `sallyport-preflight-${randomBytes(16).toString('base64url')}`;
  return { token, keyAuthorization: `${token}.${randomBytes(32).toString('base64url')}` };
};

/** What is told of a look that did not end in time. */
const unseen = (name: string, subject: string): PreflightCheck =>
  fault(name, subject, {
    message: 'This was not looked at: the time for all looks is over.',
    fix: 'See that the name servers answer quickly, or order fewer names at once.',
    isCertain: false,
  });

/**
 * Runs `work` over all items, a few at a time, and gives the results in their order; `late` stands for each that did not end before
 * the signal, which those that are under way may not heed.
 */
const each = async <T, R>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<R>,
  late: (item: T) => R,
): Promise<R[]> => {
  const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const intime = async (item: T): Promise<R> =>
    signal.aborted ? late(item) : Promise.race([work(item), over.then(() => late(item))]);
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(intime))));
  }
  return results;
};

/** Makes what looks, before an order reaches an authority, at what would keep it from succeeding. */
export const createPreflight = (deps: PreflightDeps) => {
  const { nameServers, challenges, get, port, lookup, wholeMs = WHOLE_MS } = deps;

  const isPublic = async (directoryUrl: string): Promise<boolean> => {
    const host = new URL(directoryUrl).hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await lookup(host).catch(() => []) : [host];
    return addresses.length > 0 && !addresses.some(isBlockedAddress);
  };

  /** What an HTTP-01 challenge meets on its way, name by name. */
  const checkWay = async (wanted: WantedOrder, signal: AbortSignal): Promise<PreflightCheck[]> => {
    const isPublicAuthority = await isPublic(wanted.directoryUrl);
    const dns = await nameServers();
    const own = ownAnswer();
    const at = await port();
    const ways = await each(
      wanted.names,
      signal,
      async (name) => {
        if (isIP(name) === 0) return { name, ...(await checkResolves(name, isPublicAuthority, dns.addresses)) };
        return { name, addresses: [name], check: undefined };
      },
      (name) => ({ name, addresses: [], check: unseen('resolves', name) }),
    );
    const asked = ways.flatMap(({ name, addresses }) =>
      addresses.slice(0, MOST_ADDRESSES).map((address) => ({ name, address })),
    );
    const resolved = ways.flatMap(({ check }) => check ?? []);
    if (asked.length === 0) return resolved;
    try {
      await challenges.publish([own], { ttlMs: 2 * wholeMs });
    } catch (error) {
      const check = fault('port-80', '', {
        message: `Nobody can be answered now: ${(error as Error).message}.`,
        fix: 'See that HAProxy runs (GET /api/v1/health): it is what answers an authority.',
        isCertain: true,
      });
      return [...resolved, check];
    }
    try {
      const ask = (address: string, name: string, path: string) => get({ address, port: at }, name, path, signal);
      const ports = await each(
        asked,
        signal,
        ({ name, address }) => checkPort(name, address, { port: at, own, get: ask }),
        ({ name }) => unseen('port-80', name),
      );
      return [...resolved, ...ports];
    } finally {
      // It ends by itself.
      await challenges.withdraw([own.token]).catch(() => {});
    }
  };

  const checkAuthority = async (
    wanted: WantedOrder,
  ): Promise<{ check: PreflightCheck; identities?: readonly string[] }> => {
    try {
      const { caaIdentities } = await wanted.directory();
      const identities = caaIdentities.map((identity) => identity.toLowerCase());
      return { check: fine('account', '', `${wanted.directoryUrl} answers.`), identities };
    } catch (error) {
      const check = fault('account', '', {
        message: `The authority at ${wanted.directoryUrl} can not be asked: ${(error as Error).message}`,
        fix: 'See that this machine reaches it, and that its certificate is valid or its root is given with the account.',
        isCertain: true,
      });
      return { check };
    }
  };

  return {
    /** Looks at everything that can be known before an authority is asked to issue. Takes 40 seconds at most. */
    async check(wanted: WantedOrder): Promise<Preflight> {
      const signal = AbortSignal.timeout(wholeMs);
      const { check, identities } = await checkAuthority(wanted);
      const checks = [check];
      if (identities !== undefined) {
        const dns = await nameServers();
        const asker = { identities, accountUrl: wanted.accountUrl, challenge: wanted.challenge };
        const domains = wanted.names.filter((name) => isIP(name) === 0);
        const look = (name: string) => checkCaa(name, asker, dns.authoritiesOf);
        checks.push(...(await each(domains, signal, look, (name) => unseen('caa', name))));
      }
      if (wanted.challenge === 'http-01') checks.push(...(await checkWay(wanted, signal)));
      return { ok: checks.every(({ ok }) => ok), checks };
    },
  };
};
export type AcmePreflight = ReturnType<typeof createPreflight>;
