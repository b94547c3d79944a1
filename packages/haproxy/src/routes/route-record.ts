import { isIP } from 'node:net';
import type { DesiredHost } from '../model/desired.ts';
import { routeFlags } from './flags.ts';

/** A host that cannot be written into the route map; the message is for the operator. */
export class InvalidRoute extends Error {
  override name = 'InvalidRoute';
}

/** Record of a name whose host is switched off: answered like an unknown one, also below a wildcard. */
export const disabledRecord = 'off';

/** Overlay record of a name that the base map still has but that no host has any more. */
export const removedRecord = 'none';

const maxNameLength = 253;
const namePattern = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Whether this is a lower-case DNS name, `*.` allowed in front. */
export const isServableName = (name: string): boolean =>
  // The length goes first: the pattern must not see unbounded input.
  name.length <= maxNameLength && namePattern.test(name);

/** Returns the name when it is a lower-case DNS name, `*.` allowed in front; throws InvalidRoute. */
export const checkName = (name: string): string => {
  if (!isServableName(name)) {
    throw new InvalidRoute(`not a domain name that can be served: ${JSON.stringify(name.slice(0, 80))}`);
  }
  return name;
};

const bit = (isSet: boolean | undefined, value: number): number => (isSet ? value : 0);

const flagBits = ({ origin, flags }: DesiredHost): number =>
  bit(origin.scheme === 'https', routeFlags.tlsOrigin) |
  bit(origin.scheme === 'https' && origin.verify, routeFlags.verifyOrigin) |
  bit(origin.h2, routeFlags.http2Origin) |
  bit(flags.ssl_forced, routeFlags.sslForced) |
  bit(flags.hsts_enabled, routeFlags.hsts) |
  bit(flags.hsts_enabled && flags.hsts_subdomains, routeFlags.hstsSubdomains) |
  bit(flags.block_exploits, routeFlags.blockExploits) |
  bit(flags.websocket_support, routeFlags.websocket) |
  // The management API always learns who asks.
  bit(flags.enable_standard_headers || flags.own_api, routeFlags.standardHeaders) |
  bit(flags.access_list, routeFlags.accessList) |
  bit(flags.firewall, routeFlags.firewall) |
  bit(flags.inspect_responses, routeFlags.inspectResponses) |
  bit(flags.own_api, routeFlags.ownApi);

const checkOrigin = (host: DesiredHost): void => {
  const { address, port, sni, scheme, verify } = host.origin;
  // A zone index (fe80::1%eth0) names an interface, which HAProxy's address parser does not take.
  if (isIP(address) === 0 || address.includes('%')) {
    throw new InvalidRoute(`the origin's address is not an IP address: ${JSON.stringify(address.slice(0, 80))}`);
  }
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new InvalidRoute(`bad origin port: ${port}`);
  if (sni !== '' && isIP(sni) === 0) checkName(sni);
  if (sni.startsWith('*')) throw new InvalidRoute('a server name cannot be a wildcard');
  if (scheme === 'https' && verify && (sni === '' || isIP(sni) !== 0)) {
    throw new InvalidRoute('verifying an https origin needs a host name: certificates are checked against names');
  }
};

/**
 * Encodes a host as `flags|address|port|server name|host id`, or as the disabled record.
 * Throws InvalidRoute when any part could not be written into a map.
 */
export const encodeRoute = (host: DesiredHost): string => {
  if (!Number.isSafeInteger(host.id) || host.id < 0) throw new InvalidRoute(`bad host id: ${host.id}`);
  if (!host.flags.enabled) return disabledRecord;
  checkOrigin(host);
  const { address, port, sni } = host.origin;
  return `${flagBits(host)}|${address}|${port}|${isIP(sni) === 0 ? sni : ''}|${host.id}`;
};
