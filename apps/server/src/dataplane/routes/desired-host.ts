import type { DesiredHost } from '@sallyport/haproxy';
import type { ReservedOrigin } from './origins/guard.ts';
import type { OriginResolver } from './origins/resolver.ts';
import type { HostRoute } from './source.ts';

export interface DesiredHostDeps {
  resolver: OriginResolver;
  /** Why an address and port may not be an ordinary host's origin; undefined when it may. */
  reservedOrigin: ReservedOrigin;
  /** Whether an address and port are the management API's. */
  isOwnApi: (address: string, port: number) => boolean;
}

/**
 * An origin without an address still has a route, so that its visitors get the 503 page and not the 404 page.
 * Linux refuses to connect to the broadcast address at once.
 */
export const NOWHERE = '255.255.255.255';

/** Makes of a stored route what HAProxy should serve, and says why it leads nowhere; looks up no name. */
export const createDesiredHost =
  ({ resolver, reservedOrigin, isOwnApi }: DesiredHostDeps) =>
  (route: HostRoute): { host: DesiredHost; issue: string | undefined } => {
    const resolution = resolver.known(route.originHost);
    if (!('address' in resolution)) return { host: route.at(NOWHERE), issue: resolution.issue };
    // Judged where it is used, because a name may come to mean another address at any time.
    const reason = route.mayReachReserved ? undefined : reservedOrigin(resolution.address, route.originPort);
    if (reason !== undefined) {
      const issue = `forward_host is ${reason}; an administrator can allow it (forward_reserved)`;
      return { host: route.at(NOWHERE), issue };
    }
    const host = route.at(resolution.address);
    const isOwn = isOwnApi(resolution.address, route.originPort);
    return { host: isOwn ? { ...host, flags: { ...host.flags, own_api: true } } : host, issue: undefined };
  };
