import type { CaddyfileMeaning, GlobalOptions, Handler, Place, Site } from '@sallyport/caddyfile';
import { isKnownDirective } from '@sallyport/caddyfile';
import { parseDomainName, parseOriginHost } from '@sallyport/store/names/domain-name';
import { addAll } from '../add-all.ts';
import type { Beside } from '../certificates/beside.ts';
import { SWITCHED_OFF, toWarnings } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning, SourceError } from '../reading.ts';
import { inWords, onlyRedirects } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { forwardingOf } from './forward.ts';
import { lossesOf } from './loss.ts';
import { namesOf } from './names.ts';
import { redirectionOf } from './redirection.ts';
import { type Entry, type Resolved, resolveName } from './resolve.ts';
import { settingsOf } from './site-settings.ts';
import { allHandlers, forwards, type Trace, traceName } from './trace.ts';

export interface Made {
  hosts: ImportedHost[];
  warnings: ImportWarning[];
  errors: SourceError[];
}

/** A proxy host has no more names. */
const MAX_NAMES = 100;
/** How often names are compared with matchers within one site. */
const MAX_COMPARISONS = 50_000_000;

/** The same trace for names that fare the same, so that they become one host. */
const sharedTraces = (site: Site): ((name: string) => Trace) => {
  const handlers = allHandlers(site.handlers);
  const asksForHosts = handlers.some(({ matcher }) => matcher.hosts);
  if (!asksForHosts) {
    const trace = traceName(site, '');
    return () => trace;
  }
  const numbers = new Map(handlers.map((handler, index) => [handler, index]));
  const known = new Map<string, Trace>();
  return (name) => {
    const trace = traceName(site, name);
    const key = [trace.primary, trace.end, ...trace.partial, undefined, ...trace.passed]
      .map((handler) => (handler ? numbers.get(handler) : ''))
      .join();
    const same = known.get(key) ?? trace;
    known.set(key, same);
    return same;
  };
};

const entriesOf = (site: Site, options: GlobalOptions, made: Made): Entry[] => {
  const names = namesOf(site, options);
  const asksForHosts = names.some(({ isOfMatcher }) => isOfMatcher);
  if (asksForHosts && names.length * allHandlers(site.handlers).length > MAX_COMPARISONS) {
    made.errors.push({
      ...warn(site.place, 'this site has too many names for so many matchers'),
      text: names[0]!.name,
    });
    return [];
  }
  const traceOf = sharedTraces(site);
  return names.map((name) => ({ ...name, site, trace: traceOf(name.name) }));
};

/** Whether sites have certificates by themselves. */
const hasAutoHttps = ({ autoHttps }: GlobalOptions): boolean =>
  !autoHttps.includes('off') && !autoHttps.includes('disable_certs');

/** The `reverse_proxy` that a host can be made of when none is for all requests: the first in the file. */
const partialProxy = ({ partial }: Trace): Handler | undefined =>
  allHandlers(partial)
    .filter(forwards)
    .reduce<Handler | undefined>((first, one) => {
      const [a, b] = [first?.directive.name, one.directive.name];
      return a === undefined || b!.line < a.line ? one : first;
    }, undefined);

const whyNone = ({ end }: Trace): string => {
  const redirect = end && redirectionOf(end);
  if (redirect) return onlyRedirects(redirect);
  return end ? `it only has ${end.name}` : 'it has no reverse_proxy';
};

/** Where a site that is no host redirects some of its requests to. */
const redirectsOf = ({ partial }: Trace): ImportWarning[] =>
  allHandlers(partial).flatMap((handler) => {
    const found = redirectionOf(handler);
    if (!found) return [];
    const which = handler.matcher.text === '' ? 'some requests' : `requests that match ${handler.matcher.text}`;
    return warn(handler.directive.name, `${which} are not redirected to ${inWords(found)} here`);
  });

/** What may have been meant to make a host of a site: misspelt, or of a plugin. */
const unknownIn = (site: Site): ImportWarning[] =>
  allHandlers(site.handlers)
    .filter(({ name }) => !isKnownDirective(name))
    .map(({ name, directive }) =>
      warn(directive.name, `${name} is no directive of Caddy itself and is not taken over`),
    );

/** One host for names of one site that fare the same. */
const makeHost = (
  names: readonly string[],
  { entry, sslForced, notes }: Resolved,
  { options, beside }: { options: GlobalOptions; beside: Beside },
  made: Made,
) => {
  const { site, trace } = entry;
  const place = site.place;
  const chosen = trace.primary ?? partialProxy(trace);
  const refuse = (why: string, where: Place = place) => {
    made.warnings.push(warn(where, `${shorten(names.join(', '), 200)} is not imported: ${why}`));
  };
  if (!chosen) {
    addAll(made.warnings, unknownIn(site));
    refuse(whyNone(trace), trace.end?.name === 'redir' ? trace.end.directive.name : place);
    addAll(made.warnings, redirectsOf(trace));
    return;
  }
  const forwarding = forwardingOf(chosen);
  if ('impossible' in forwarding) return refuse(forwarding.impossible);
  const { forward } = forwarding;
  try {
    forward.forward_host = parseOriginHost(forward.forward_host);
    if (forward.forward_port < 1) throw new Error('port 0 is no port');
  } catch (error) {
    return refuse(`its upstream ${(error as Error).message}`);
  }
  const settings = settingsOf(site, trace.passed, options, (named) => beside.serve([named], names));
  const isAutomatic = entry.secure !== undefined && !settings.hasOwnCertificate && hasAutoHttps(options);
  const losses: Loss[] = [...settings.losses];
  const passed = trace.passed.filter((one) => !settings.expressed.has(one));
  addAll(losses, lossesOf({ partial: trace.partial, passed }, chosen));
  if (!trace.primary) {
    const message = `only some requests go to this upstream in the Caddyfile (${chosen.matcher.text || 'within a block'}), here all do`;
    losses.push(loss(chosen.directive.name, message, true));
  }
  addAll(losses, portLosses(entry, options));
  addAll(
    losses,
    notes.map(({ message, keptOut }) => loss(place, message, keptOut)),
  );
  addAll(losses, forwarding.losses);
  const isOpen = losses.some(({ keptOut }) => keptOut);
  if (isOpen) losses.unshift(loss(place, SWITCHED_OFF, true));
  made.hosts.push({
    ...at(place),
    domain: names.join(','),
    ...forward,
    ssl_forced: sslForced,
    ...settings.fields,
    ...(isAutomatic && { auto_certificate: true }),
    ...(isOpen && { enabled: false }),
    warnings: toWarnings(losses),
  });
};

const at = ({ file, line, column }: Place): Place => ({ file, line, column });

const portLosses = ({ plain, secure }: Entry, { httpPort, httpsPort, autoHttps }: GlobalOptions): Loss[] => {
  const losses: Loss[] = [];
  for (const [address, usual] of [
    [plain, httpPort],
    [secure, httpsPort],
  ] as const) {
    if (address?.port !== undefined && address.port !== usual) {
      const message = `port ${address.port}: the host is reached at the ports that the proxy listens on`;
      losses.push(loss(address.token, message));
    }
  }
  if (secure && secure.scheme !== 'https' && autoHttps.includes('off')) {
    losses.push(loss(secure.token, 'auto_https is off: here the name is served with and without TLS'));
  }
  return losses;
};

/** The name as our API takes it; says in `made` when it is none. */
const nameOf = ({ name, site }: Entry, made: Made): string | undefined => {
  try {
    if (name === '') throw new Error('a proxy host needs a name, and this site has none');
    return parseDomainName(name);
  } catch (error) {
    const message = `${name === '' ? site.addresses.map(({ token }) => token.text).join(', ') : name} is not imported: ${(error as Error).message}`;
    made.warnings.push(warn(site.place, message));
    return undefined;
  }
};

/** Names of one site that fare the same, at most as many as a host may have. */
interface Group {
  names: string[];
  resolved: Resolved;
}

const groupAlike = (byName: ReadonlyMap<string, Entry[]>, options: GlobalOptions): Group[] => {
  const groups: Group[] = [];
  const open = new Map<Trace, Map<string, Group>>();
  for (const [name, entries] of byName) {
    const resolved = resolveName(entries, options);
    const { entry, sslForced, notes } = resolved;
    const alike = open.get(entry.trace) ?? new Map<string, Group>();
    open.set(entry.trace, alike);
    const key = JSON.stringify([sslForced, entry.plain?.port, entry.secure?.port, notes]);
    const group = alike.get(key);
    if (group && group.names.length < MAX_NAMES) {
      group.names.push(name);
      continue;
    }
    const another = { names: [name], resolved };
    alike.set(key, another);
    groups.push(another);
  }
  return groups;
};

/** Makes proxy hosts of sites. A site that can't be one is in `warnings`, with the reason. */
export const makeHosts = ({ sites, options }: CaddyfileMeaning, beside: Beside): Made => {
  const made: Made = { hosts: [], warnings: [], errors: [] };
  const byName = new Map<string, Entry[]>();
  for (const site of sites) {
    for (const entry of entriesOf(site, options, made)) {
      const name = nameOf(entry, made);
      if (name === undefined) continue;
      const others = byName.get(name);
      if (others) others.push(entry);
      else byName.set(name, [entry]);
    }
  }
  for (const { names, resolved } of groupAlike(byName, options)) makeHost(names, resolved, { options, beside }, made);
  return made;
};
