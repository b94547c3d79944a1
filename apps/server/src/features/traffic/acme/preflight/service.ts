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

/** Runs `work` over all items, a few at a time, and gives the results in their order. */
const each = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))));
  }
  return results;
};

/** Makes what looks, before an order reaches an authority, at what would keep it from succeeding. */
export const createPreflight = ({ nameServers, challenges, get, port, lookup }: PreflightDeps) => {
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
    const ways = await each(wanted.names, async (name) => {
      if (isIP(name) === 0) return { name, ...(await checkResolves(name, isPublicAuthority, dns.addresses)) };
      return { name, addresses: [name], check: undefined };
    });
    const asked = ways.flatMap(({ name, addresses }) =>
      addresses.slice(0, MOST_ADDRESSES).map((address) => ({ name, address })),
    );
    const resolved = ways.flatMap(({ check }) => check ?? []);
    if (asked.length === 0) return resolved;
    await challenges.publish([own], { ttlMs: 2 * WHOLE_MS });
    try {
      const ask = (address: string, name: string, path: string) => get({ address, port: at }, name, path, signal);
      const ports = await each(asked, ({ name, address }) => checkPort(name, address, { port: at, own, get: ask }));
      return [...resolved, ...ports];
    } finally {
      await challenges.withdraw([own.token]);
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
      const signal = AbortSignal.timeout(WHOLE_MS);
      const { check, identities } = await checkAuthority(wanted);
      const checks = [check];
      if (identities !== undefined) {
        const dns = await nameServers();
        const asker = { identities, accountUrl: wanted.accountUrl, challenge: wanted.challenge };
        const domains = wanted.names.filter((name) => isIP(name) === 0);
        checks.push(...(await each(domains, (name) => checkCaa(name, asker, dns.authoritiesOf))));
      }
      if (wanted.challenge === 'http-01') checks.push(...(await checkWay(wanted, signal)));
      return { ok: checks.every(({ ok }) => ok), checks };
    },
  };
};
export type AcmePreflight = ReturnType<typeof createPreflight>;
