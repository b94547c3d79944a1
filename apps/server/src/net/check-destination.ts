import { isIP } from 'node:net';
import { isBlockedAddress, isBlockedName } from './blocked-addresses.ts';
import { type AddressPolicy, SafeFetchError } from './safe-fetch.ts';
import { withTimeout } from './with-timeout.ts';

export interface DestinationCheckDeps {
  lookup: (name: string) => Promise<string[]>;
  addressPolicy?: AddressPolicy | undefined;
}

const LOOKUP_TIMEOUT_MS = 3_000;

const blocked = () => new SafeFetchError('blocked', 'URL resolves to a private IP address (blocked for security)');

/**
 * Makes a check for URLs that are stored and called later: https, no credentials, no destination that is not public.
 * A name that does not resolve now passes, because every call checks again what it resolves to by then.
 * Rejects with `SafeFetchError`.
 */
export const createDestinationCheck = ({
  lookup,
  addressPolicy = { isBlockedAddress, isBlockedName },
}: DestinationCheckDeps) => {
  return async (text: string): Promise<void> => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || url.hostname === '' || url.username !== '' || url.password !== '') {
      throw new SafeFetchError('invalid_url', 'invalid URL format');
    }
    if (url.protocol !== 'https:') throw new SafeFetchError('invalid_url', 'only https:// URLs are supported');
    const port = Number(url.port || 443);
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) {
      if (addressPolicy.isBlockedAddress(literal, port)) throw blocked();
      return;
    }
    if (addressPolicy.isBlockedName(url.hostname)) throw blocked();
    const addresses = await withTimeout(lookup(url.hostname), LOOKUP_TIMEOUT_MS).catch((): string[] => []);
    if (addresses.some((address) => addressPolicy.isBlockedAddress(address, port))) throw blocked();
  };
};
export type CheckDestination = ReturnType<typeof createDestinationCheck>;
