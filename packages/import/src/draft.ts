import { isIP } from 'node:net';
import { parseDomainName, parseOriginHost } from '@sallyport/store/names/domain-name';
import { atMost } from './at-most.ts';
import { type Loss, loss, warn } from './loss.ts';
import type { ImportedHost, ImportWarning, Place } from './reading.ts';
import { shorten } from './shorten.ts';

/** What the first warning says of a host without what kept requests out. */
export const SWITCHED_OFF = 'imported switched off: what kept requests out is not taken over (see below)';

const MAX_HOST_WARNINGS = 50;
/** A proxy host has no more names. */
const MAX_NAMES = 100;

/** A host before its names and its upstream are looked at. */
export interface Draft {
  place: Place;
  names: readonly string[];
  fields: Omit<ImportedHost, 'domain' | 'warnings' | 'enabled' | keyof Place>;
  losses: readonly Loss[];
}

/** The name as our API takes it; without it, why it is not imported is added to `warnings`. */
export const nameOrWarning = (name: string, place: Place, warnings: ImportWarning[]): string | undefined => {
  try {
    return parseDomainName(name);
  } catch (error) {
    warnings.push(warn(place, `${shorten(name)} is not imported: ${(error as Error).message}`));
    return undefined;
  }
};

/** As many of a host's losses as somebody may want to read: first what kept requests out. */
export const toWarnings = (losses: readonly Loss[]): ImportWarning[] =>
  atMost(
    MAX_HOST_WARNINGS,
    losses.toSorted((one, other) => Number(other.keptOut) - Number(one.keptOut)).map(({ warning }) => warning),
  );

/** Those whose upstream can not be a proxy host's are in `warnings` instead. */
export const toHosts = ({ place, names, fields, losses }: Draft, warnings: ImportWarning[]): ImportedHost[] => {
  const all = [...losses];
  const made = { ...fields };
  try {
    made.forward_host = parseOriginHost(fields.forward_host);
    const port = fields.forward_port;
    if (!(Number.isInteger(port) && port >= 1 && port <= 65_535))
      throw new Error(`has the port ${port}, which is none`);
  } catch (error) {
    const message = `${shorten(names.join(', '))} is not imported: its upstream ${(error as Error).message}`;
    warnings.push(warn(place, message));
    return [];
  }
  if (made.forward_verify_tls && isIP(made.forward_host) !== 0) {
    made.forward_verify_tls = false;
    const message = `the certificate of ${made.forward_host} is not checked: that needs a name, not an address`;
    all.push(loss(place, message));
  }
  const isOpen = all.some(({ keptOut }) => keptOut);
  if (isOpen) all.unshift(loss(place, SWITCHED_OFF, true));
  const shared = { ...made, ...(isOpen && { enabled: false }), warnings: toWarnings(all) };
  const { file, line, column } = place;
  const hosts: ImportedHost[] = [];
  for (let from = 0; from < names.length; from += MAX_NAMES) {
    const domain = names.slice(from, from + MAX_NAMES).join(',');
    hosts.push({ file, line, ...(column !== undefined && { column }), domain, ...shared });
  }
  return hosts;
};
