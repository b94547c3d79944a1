import { networkInterfaces } from 'node:os';
import type { PreflightCheck } from '@sallyport/contract';
import type { SiteAnswer } from '../../../../net/ask-site.ts';
import { isMetadataOrLinkLocal } from '../../../../net/blocked-addresses.ts';
import { fault, fine } from './finding.ts';

/** Where an answer of our own is found, and what it is. */
export interface OwnAnswer {
  token: string;
  keyAuthorization: string;
}

export interface PortDeps {
  /** Where authorities ask: 80, unless a private one is set up otherwise. */
  port: number;
  own: OwnAnswer;
  /** GET of `path` at an address under a name; rejects with the reason in words. */
  get: (address: string, name: string, path: string) => Promise<SiteAnswer>;
}

const isOwn = (address: string): boolean =>
  address === '::1' ||
  address.startsWith('127.') ||
  Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address));

const ELSEWHERE =
  'Behind a router that does not lead its own public address back inside, it may be all right nevertheless: the order is tried.';

/** Text of another server, fit to be shown. */
const shown = (text: string | string[] | undefined): string =>
  String(text ?? '')
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, ' ')
    .slice(0, 200);

const describe = (answer: SiteAnswer): string => {
  const { server, location } = answer.headers;
  const from = server === undefined ? '' : ` (${shown(server)})`;
  return location === undefined ? `${answer.status}${from}` : `${answer.status}${from} to ${shown(location)}`;
};

/** Asks one address of a name for an answer that only this proxy knows. */
export const checkPort = async (
  name: string,
  address: string,
  { port, own, get }: PortDeps,
): Promise<PreflightCheck> => {
  const at = `port ${port} of ${address}`;
  const isCertain = isOwn(address);
  const why = isCertain ? '' : ` ${ELSEWHERE}`;
  if (isMetadataOrLinkLocal(address)) {
    const message = `${name} resolves to ${address}, which is link-local or a cloud's metadata service and is not asked.`;
    return fault('port-80', name, { message, fix: 'Correct its DNS record.', isCertain: true });
  }
  let answer: SiteAnswer;
  try {
    answer = await get(address, name, `/.well-known/acme-challenge/${own.token}`);
  } catch (error) {
    return fault('port-80', name, {
      message: `${at} was asked for ${name}: ${(error as Error).message}.`,
      fix:
        `Lead port ${port} of this address to the HTTP port of this proxy (port forwarding, firewall), remove an address ` +
        `that does not belong to it from DNS (authorities try IPv6 first), or prove the name by dns-01.${why}`,
      isCertain,
    });
  }
  if (answer.status === 200 && answer.body?.toString('latin1').trim() === own.keyAuthorization) {
    return fine('port-80', name, `${at} is this proxy.`);
  }
  return fault('port-80', name, {
    message: `${at} answers ${name} with ${describe(answer)}: that is not this proxy.`,
    fix:
      `Something else answers there: another web server on the same port, a router, a content delivery network, or an old ` +
      `address in DNS. Lead it here, or prove the name by dns-01.${why}`,
    isCertain,
  });
};
