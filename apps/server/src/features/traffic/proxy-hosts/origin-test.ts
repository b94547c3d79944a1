import { isIP } from 'node:net';
import type { OriginTest, OriginToTest } from '@sallyport/contract';
import { formatAddress } from '@sallyport/deployment/listen';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { parseOriginHost } from '@sallyport/store/names/domain-name';
import { getSite } from '../../../net/ask-site.ts';
import { probeTcp } from '../../../net/tcp-probe.ts';
import { isStandardUser } from './administrators-part.ts';
import type { ProxyHostDeps } from './service.ts';

export interface OriginTestDeps {
  transact: Transact;
  /** All addresses of a name; rejects when there is none. */
  lookup: (name: string) => Promise<string[]>;
  reservedOrigin: ProxyHostDeps['reservedOrigin'];
  record: RecordChange;
  clock: () => Date;
}

const CONNECT_MS = 5_000;
const ANSWER_MS = 8_000;

const parse = (host: string): string => {
  try {
    return parseOriginHost(host);
  } catch (error) {
    throw refuse.invalid(`forward_host ${(error as Error).message}`);
  }
};

/** Tries an origin before a host is stored that forwards to it, by the rules that hold for the origins of hosts. */
export const createOriginTest = ({ transact, lookup, reservedOrigin, record, clock }: OriginTestDeps) => {
  const addressOf = async (host: string, port: number, isReservedAllowed: boolean): Promise<string | undefined> => {
    // The proxy takes the first one, too.
    const [address] = isIP(host) === 0 ? await lookup(host).catch(() => []) : [host];
    const reason = address === undefined || isReservedAllowed ? undefined : reservedOrigin(address, port);
    if (reason === undefined) return address;
    throw refuse.invalid(`forward_host is ${reason}: an administrator can allow it with forward_reserved`);
  };

  /** What becomes of a connection to the address that was looked at, and of a request on it. */
  const ask = async (
    address: string | undefined,
    { host, port, isTls }: { host: string; port: number; isTls: boolean },
  ): Promise<Pick<OriginTest, 'reachable' | 'status' | 'error'>> => {
    if (address === undefined) return { reachable: false, status: null, error: 'the host name does not resolve' };
    const failure = await probeTcp(address, port, CONNECT_MS);
    if (failure !== undefined) return { reachable: false, status: null, error: failure };
    try {
      const { status } = await getSite({ address, port, isTls }, host, AbortSignal.timeout(ANSWER_MS));
      return { reachable: true, status };
    } catch (error) {
      return { reachable: true, status: null, error: (error as Error).message };
    }
  };

  /** Connects to the origin and asks it for `/`. Throws a 400 for one that no host of the caller may have. */
  return async (origin: OriginToTest, actor: Actor): Promise<OriginTest> => {
    const { forward_scheme = 'http', forward_port: port, forward_reserved = false } = origin;
    const host = parse(origin.forward_host);
    const address = await addressOf(host, port, forward_reserved && !isStandardUser(actor));
    const found = await ask(address, { host, port, isTls: forward_scheme === 'https' });
    const result = { ...found, address: formatAddress(address ?? host, port), timestamp: clock().toISOString() };
    await transact((tx) =>
      record(tx, { action: 'proxy_host.test_origin', actor, resource: 'proxy-hosts', after: result }),
    );
    return result;
  };
};
