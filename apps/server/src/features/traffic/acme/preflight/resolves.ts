import type { PreflightCheck } from '@sallyport/contract';
import { isBlockedAddress } from '../../../../net/blocked-addresses.ts';
import { fault, fine } from './finding.ts';

/** What a name resolves to, and what there is to say of it. */
export interface Resolved {
  addresses: readonly string[];
  check: PreflightCheck;
}

const HINT =
  'If another name server is in charge inside this network, name a public one in the setting acme.dns_resolvers.';

/**
 * Looks what a name resolves to. `isPublicAuthority`: it asks from the internet, where private addresses lead nowhere.
 * `look` rejects when nobody could answer.
 */
export const checkResolves = async (
  name: string,
  isPublicAuthority: boolean,
  look: (name: string) => Promise<string[]>,
): Promise<Resolved> => {
  let addresses: string[];
  try {
    addresses = await look(name);
  } catch (error) {
    const message = `${(error as Error).message}.`;
    const check = fault('resolves', name, {
      message,
      fix: `See that the name servers answer. ${HINT}`,
      isCertain: false,
    });
    return { addresses: [], check };
  }
  if (addresses.length === 0) {
    const check = fault('resolves', name, {
      message: `${name} has no address in DNS.`,
      fix: `Make an A or AAAA record of ${name} with the public address of this proxy, or prove the name by dns-01. ${HINT}`,
      isCertain: true,
    });
    return { addresses, check };
  }
  const shown = addresses.join(', ');
  const within = addresses.filter(isBlockedAddress);
  if (isPublicAuthority && within.length > 0) {
    const check = fault('resolves', name, {
      message: `${name} resolves to ${shown}: ${within.join(', ')} can't be reached from the internet.`,
      fix: `Let it resolve to a public address, prove it by dns-01, or have a certificate of the internal authority. ${HINT}`,
      isCertain: false,
    });
    return { addresses, check };
  }
  return { addresses, check: fine('resolves', name, `${name} resolves to ${shown}.`) };
};
