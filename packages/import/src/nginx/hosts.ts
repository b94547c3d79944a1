import { addAll } from '../add-all.ts';
import type { Beside } from '../certificates/beside.ts';
import { type Draft, nameOrWarning, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning } from '../reading.ts';
import { inWords, onlyRedirects } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { type Target, targetOf, type Upstreams } from './forward.ts';
import type { Token } from './lex.ts';
import { type Location, passedTo, type Routing, routingOf } from './location.ts';
import { keepsAnywhere, lossesIn, lossesOfAccess, lossOfLocation } from './losses.ts';
import { isSecuringIf, onlySecures, redirectOfAll, redirectOfSome } from './redirect.ts';
import { inForce, lastValueOf, type Scope } from './scope.ts';
import type { Server } from './server.ts';
import { aboutRequestHeaders, answerHeadersOf, certificateOf, lacksHost, passesUpgrades } from './settings.ts';

/** A `server` with what becomes of its requests. */
export interface Site {
  server: Server;
  routing: Routing;
  /** The location that a host is made of: that for all requests, or else the first with an upstream. */
  chosen: Location | undefined;
  target: Target | undefined;
}

/** Follows requests through a server. Throws a `NginxError` for what nginx would refuse. */
export const siteOf = (server: Server, upstreams: Upstreams): Site => {
  const routing = routingOf(server.scope);
  const { main, others } = routing;
  const chosen = main?.pass ? main : others.find(({ pass }) => pass);
  // All of them, so that none that nginx would refuse goes unnoticed.
  const targets = new Map(
    [...(main ? [main] : []), ...others].flatMap((one) =>
      one.pass ? [[one, targetOf(one.pass, one.scope, one.path, upstreams)]] : [],
    ),
  );
  return { server, routing, chosen, target: chosen && targets.get(chosen) };
};

/** A name of a site, and what other sites for the same name say. */
interface Named {
  site: Site;
  name: string;
  sslForced: boolean;
  /** What is left out of the other sites, and whether that kept requests out. */
  notes: { message: string; keptOut: boolean }[];
}

const leadsTo = ({ target }: Site): string =>
  target && 'host' in target ? `${target.scheme} ${target.host} ${target.port}` : '';

const mainScope = ({ routing }: Site): Scope | undefined => routing.main?.scope;

const securesItself = ({ server }: Site, name: string): boolean =>
  inForce(server.scope, 'if').some((one) => isSecuringIf(one, server.scope, name));

/** Of several sites for one name, the one that its host is made of. */
const resolveName = (name: string, sites: readonly Site[]): Named => {
  const isProxy = (site: Site) => site.chosen && redirectOfAll(site.server, mainScope(site), name) === undefined;
  const proxies = sites.filter(isProxy);
  const site = proxies.find(({ server }) => server.secure) ?? proxies[0] ?? sites[0]!;
  const plain = sites.find((one) => one !== site && one.server.plain);
  const plainSecures = plain !== undefined && onlySecures(plain.server, mainScope(plain), name);
  const isSame = plain !== undefined && isProxy(plain) && leadsTo(plain) === leadsTo(site);
  const { server } = site;
  const others = sites.filter((one) => one !== site && !(one === plain && (plainSecures || isSame)));
  const notes = others.map((other) => {
    const { at, scope, secure } = other.server;
    const redirect = redirectOfAll(other.server, mainScope(other), name);
    const what = redirect ? `: it redirects to ${inWords(redirect)}` : '';
    return {
      message: `the server in ${at.file}:${at.line} has the same name and is left out${what}`,
      keptOut: secure === server.secure && keepsAnywhere(scope.own),
    };
  });
  const forced = !server.plain ? !isSame : securesItself(site, name);
  return { site, name, sslForced: server.secure && forced, notes };
};

/** Why a site is no host for a name, and where that is said. */
interface Impossible {
  why: string;
  at: Token;
}

const whyNone = ({ server, routing }: Site, name: string): Impossible => {
  const redirect = redirectOfAll(server, routing.main?.scope, name);
  if (redirect) return { why: onlyRedirects(redirect), at: redirect.at };
  return { why: 'it has no proxy_pass or grpc_pass', at: server.at };
};

/** Where a site that is no host redirects some of its requests to. */
const redirectsOf = ({ server, routing }: Site): ImportWarning[] => {
  const { main, others } = routing;
  const parts = [{ text: '/', scope: server.scope }, ...(main ? [main] : []), ...others];
  return parts.flatMap(({ text, scope }) =>
    scope.own.flatMap((one) => {
      const found = redirectOfSome(one, scope);
      const which = shorten(found?.pattern ?? text);
      return found ? warn(one.name, `requests for ${which} are not redirected to ${inWords(found)} here`) : [];
    }),
  );
};

const isExpressed = (server: Server, name: string) => {
  const { scope } = server;
  return (directive: Parameters<typeof isSecuringIf>[0]): boolean =>
    directive.name.text === 'if' && isSecuringIf(directive, scope, name);
};

const lossesOf = ({ server, routing, chosen, target }: Site, { name, notes }: Named): Loss[] => {
  const { scope } = chosen!;
  const losses: Loss[] = [...server.losses];
  if (chosen !== routing.main) {
    const message = `only requests for ${shorten(chosen!.text)} go to this upstream in nginx, here all do`;
    losses.push(loss(chosen!.at, message, true));
  }
  if (target && 'losses' in target) addAll(losses, target.losses);
  addAll(losses, lossesOfAccess(scope));
  for (let one: Scope | undefined = scope; one?.outer; one = one.outer) {
    addAll(losses, lossesIn(one, isExpressed(server, name)));
  }
  addAll(losses, aboutRequestHeaders(scope));
  if (chosen!.pass!.name.text === 'proxy_pass' && lacksHost(scope)) {
    losses.push(loss(chosen!.pass!.name, "the upstream gets the visitor's Host; nginx sends the upstream's own"));
  }
  for (const other of routing.others) {
    if (other === chosen || isWithin(chosen!.scope, other)) continue;
    const isSame = passedTo(other) === passedTo(chosen!);
    const lost = lossOfLocation(other, isSame);
    if (lost) losses.push(lost);
  }
  const main = routing.main && routing.main !== chosen ? lossOfLocation(routing.main, false) : undefined;
  if (main) losses.push(main);
  addAll(
    losses,
    notes.map(({ message, keptOut }) => loss(server.at, message, keptOut)),
  );
  return losses;
};

/** Whether a location is one of those around a scope. */
const isWithin = (scope: Scope, { scope: around }: Location): boolean => {
  for (let one: Scope | undefined = scope; one; one = one.outer) if (one === around) return true;
  return false;
};

/** What is of all servers. */
export interface Surroundings {
  /** What all of them lack. */
  shared: readonly Loss[];
  beside: Beside;
}

const draftOf = (named: Named, names: readonly string[], { shared, beside }: Surroundings): Draft | Impossible => {
  const { site, sslForced } = named;
  const { server, routing, chosen, target } = site;
  if (!chosen || !target || redirectOfAll(server, mainScope(site), named.name) !== undefined) {
    return whyNone(site, named.name);
  }
  if ('impossible' in target) return { why: target.impossible, at: server.at };
  const { scope } = chosen;
  const headers = answerHeadersOf(scope);
  const { certificate, isAutomatic, losses: ofCertificate } = certificateOf(server, names, beside);
  const alike = routing.others.filter((one) => passedTo(one) === passedTo(chosen));
  const verifies = lastValueOf(scope, target.isGrpc ? 'grpc_ssl_verify' : 'proxy_ssl_verify') === 'on';
  return {
    place: server.at,
    names,
    fields: {
      forward_scheme: target.scheme,
      forward_host: target.host,
      forward_port: target.port,
      ssl_forced: sslForced,
      websocket_support: [chosen, ...alike].some((one) => passesUpgrades(one.scope)),
      ...(server.secure && { http2_support: server.http2 }),
      ...(target.scheme === 'https' && { forward_verify_tls: verifies }),
      ...(target.isGrpc && { forward_http2: true }),
      ...headers.fields,
      ...(certificate !== undefined && { certificate }),
      ...(isAutomatic && { auto_certificate: true }),
    },
    losses: [...shared, ...ofCertificate, ...lossesOf(site, named), ...headers.losses],
  };
};

/** Makes proxy hosts of servers. What can't be one is in `warnings`, with the reason. */
export const makeHosts = (sites: readonly Site[], around: Surroundings, warnings: ImportWarning[]): ImportedHost[] => {
  const byName = new Map<string, Site[]>();
  for (const site of sites) {
    const { names, at, losses } = site.server;
    if (names.length === 0) {
      const why =
        losses.find(({ warning }) => /name/.test(warning.message))?.warning.message ?? 'it has no server_name';
      const redirect = redirectOfAll(site.server, mainScope(site), '');
      const to = redirect ? `; it redirects to ${inWords(redirect)}` : '';
      warnings.push(warn(redirect?.at ?? at, `this server is not imported: ${why}${to}`));
    }
    for (const { name, at: where } of names) {
      const parsed = nameOrWarning(name, where, warnings);
      if (parsed === undefined) continue;
      const others = byName.get(parsed);
      if (!others) byName.set(parsed, [site]);
      else if (!others.includes(site)) others.push(site);
    }
  }
  const resolvedNames = Array.from(byName, ([name, all]) => resolveName(name, all));
  const numbers = new Map(sites.map((site, index) => [site, index]));
  const keyOf = ({ site, name, sslForced, notes }: Named) =>
    JSON.stringify([numbers.get(site), sslForced, notes, redirectOfAll(site.server, mainScope(site), name)?.to]);
  return [...Map.groupBy(resolvedNames, keyOf).values()].flatMap((group) => {
    const names = group.map(({ name }) => name);
    const draft = draftOf(group[0]!, names, around);
    if (!('why' in draft)) return toHosts(draft, warnings);
    warnings.push(warn(draft.at, `${shorten(names.join(', '), 200)} is not imported: ${draft.why}`));
    if (draft.at === group[0]!.site.server.at) addAll(warnings, redirectsOf(group[0]!.site));
    return [];
  });
};
