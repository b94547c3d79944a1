import type { Address, GlobalOptions, Site } from '@sallyport/caddyfile';
import { allHandlers, wildcardOf } from './trace.ts';

/** A name that a site answers to, and by which of its addresses. */
export interface SiteName {
  name: string;
  /** Without TLS. */
  plain: Address | undefined;
  secure: Address | undefined;
  /** Whether only a matcher has this name, and the site's address a wildcard or none. */
  isOfMatcher: boolean;
}

/** Whether an address is served without TLS. */
export const isPlain = ({ scheme, port }: Address, { httpPort }: GlobalOptions): boolean =>
  scheme === 'http' || (scheme === undefined && port === httpPort);

/** The names that a site answers to: those of its addresses, and those that its matchers ask for below a wildcard. */
export const namesOf = (site: Site, options: GlobalOptions): SiteName[] => {
  const names = new Map<string, SiteName>();
  const add = (name: string, address: Address, isOfMatcher: boolean) => {
    const one = names.get(name) ?? { name, plain: undefined, secure: undefined, isOfMatcher };
    if (isPlain(address, options)) one.plain ??= address;
    else one.secure ??= address;
    names.set(name, one);
  };
  for (const address of site.addresses) add(address.host, address, false);
  const wide = site.addresses.filter(({ host }) => host === '' || host.startsWith('*.'));
  if (wide.length === 0) return [...names.values()];
  const asked = new Set(allHandlers(site.handlers).flatMap(({ matcher }) => [...(matcher.hosts ?? [])]));
  for (const name of asked) {
    for (const address of wide) {
      const isBelow = address.host === '' || wildcardOf(name) === address.host;
      if (isBelow && names.get(name)?.isOfMatcher !== false) add(name, address, true);
    }
  }
  return [...names.values()];
};
