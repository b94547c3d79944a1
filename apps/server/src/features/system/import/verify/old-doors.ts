import { isIP } from 'node:net';
import { isLocalNetwork } from '@sallyport/access';
import { refuse } from '@sallyport/store/errors';
import type { ProxyDoor } from '../../../../net/ask-site.ts';
import { isBlockedAddress, isMetadataName } from '../../../../net/blocked-addresses.ts';
import { probeTcp } from '../../../../net/tcp-probe.ts';
import { withTimeout } from '../../../../net/with-timeout.ts';
import type { OldAddress } from './old-address.ts';

export interface OldDoorsDeps {
  lookup: (name: string) => Promise<string[]>;
  /** Why an address and port may not be asked: link-local, metadata, or a listener of ours; undefined when they may. */
  reservedOrigin: (address: string, port: number) => string | undefined;
}

export interface OldDoors {
  http: ProxyDoor | undefined;
  https: ProxyDoor | undefined;
}

const LOOKUP_MS = 3_000;
const CONNECT_MS = 3_000;
const MAX_ADDRESSES = 4;

const addressesOf = async (host: string, lookup: OldDoorsDeps['lookup']): Promise<string[]> => {
  if (isIP(host) !== 0) return [host];
  if (isMetadataName(host)) throw refuse.forbidden('old_address is a metadata service, which is not asked');
  try {
    return (await withTimeout(lookup(host), LOOKUP_MS)).slice(0, MAX_ADDRESSES);
  } catch {
    throw refuse.invalid('old_address does not resolve');
  }
};

/**
 * Finds where the old proxy takes connections. An administrator names it, so that loopback and private addresses are fine; all others
 * have to be public. Throws a 400 or 403 that says what is wrong with `old_address`.
 */
export const findOldDoors = async (
  { host, http, https }: OldAddress,
  { lookup, reservedOrigin }: OldDoorsDeps,
): Promise<OldDoors> => {
  const addresses = await addressesOf(host, lookup);
  const ports = [http, https].filter((port) => port !== undefined);
  for (const address of addresses) {
    const isRefused = isBlockedAddress(address) && !isLocalNetwork(address);
    const reserved = ports.map((port) => reservedOrigin(address, port)).find((why) => why !== undefined);
    if (isRefused || reserved !== undefined) {
      throw refuse.forbidden(
        `old_address is ${reserved ?? 'neither a public nor a private address'}, which is not asked`,
      );
    }
  }
  const reasons = new Set<string>();
  const find = async (port: number | undefined, isTls: boolean): Promise<ProxyDoor | undefined> => {
    if (port === undefined) return undefined;
    for (const address of addresses) {
      const failure = await probeTcp(address, port, CONNECT_MS);
      if (failure === undefined) return { address, port, isTls };
      reasons.add(`port ${port}: ${failure}`);
    }
    return undefined;
  };
  const [plain, secured] = await Promise.all([find(http, false), find(https, true)]);
  if (!plain && !secured) {
    throw refuse.invalid('old_address does not take connections', { details: [...reasons].join('; ') });
  }
  return { http: plain, https: secured };
};
