import type { Beside } from '../certificates/beside.ts';
import { toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning } from '../reading.ts';
import { onlyRedirects } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { certificatesOf, lacksCertificate, lossesOfBinds, speaksPlain, speaksTls } from './binds.ts';
import type { Configuration } from './configuration.ts';
import { type Found, keepsAway, namesIn, onlyRedirectedIn } from './names.ts';
import { once } from './once.ts';
import { isOfAll, lossOfRedirect, metBy, secures } from './redirects.ts';
import type { Way } from './ways.ts';

const securesIn = once(({ lines }): boolean => lines.some(secures));

/** What is lost of the other ways that requests for a name go. */
const lossesOfWays = ({ ways, before }: Found, chosen: Way, keeps: (way: Way) => boolean): Loss[] => {
  const losses: Loss[] = [];
  const { others } = chosen.term;
  if (others.length > 0) {
    const which = shorten(others.join(', '));
    losses.push(
      loss(chosen.line.at, `only requests that match ${which} go to this upstream in HAProxy, here all do`, true),
    );
  }
  for (const way of ways) {
    if (way.backend === chosen.backend || (others.length === 0 && way.index > chosen.index)) continue;
    const message = `some requests go to ${shorten(way.backend)} in HAProxy; a proxy host sends all to one upstream`;
    losses.push(loss(way.line.at, message, keeps(way)));
  }
  const earlier = before(chosen);
  if (earlier) {
    const message = `requests of some visitors go to ${shorten(earlier.backend)} in HAProxy, whatever they ask for`;
    losses.push(loss(earlier.line.at, message, true));
  }
  return losses;
};

/** Makes proxy hosts of a configuration. What can't be one is in `warnings`, with the reason. */
export const makeHosts = (configuration: Configuration, beside: Beside, warnings: ImportWarning[]): ImportedHost[] => {
  const { sections, backends, stackOf, lossesOf, redirectsOf, targetOf } = configuration;
  const keeps = keepsAway(configuration);
  const isSecured = sections.some(securesIn);
  const certificateFor = once((frontend) => beside.choice(certificatesOf(frontend, beside)));
  const isOpenPlain = ({ frontend }: Found) => !stackOf(frontend).some(securesIn) && speaksPlain(frontend);

  const hostsOf = (name: string, all: readonly Found[]): ImportedHost[] => {
    const found = all.find(({ frontend }) => speaksTls(frontend)) ?? all[0]!;
    const { frontend } = found;
    const chosen = found.ways.find(({ term }) => term.others.length === 0) ?? found.ways[0]!;
    const { at } = chosen.line;
    const notImported = (why: string): ImportedHost[] => {
      warnings.push(warn(at, `${name} is not imported: ${why}`));
      return [];
    };
    const backend = backends.get(chosen.backend);
    if (!backend) return notImported(`its backend ${shorten(chosen.backend)} is not in the files`);
    const target = targetOf(backend);
    // What both stand on is told once.
    const both = [...new Set([...stackOf(frontend), ...stackOf(backend)])];
    const redirects = metBy(found.name, both.map(redirectsOf));
    if ('impossible' in target) {
      const whole = redirects.find(isOfAll);
      return notImported(whole ? onlyRedirects(whole) : target.impossible);
    }
    const isForced = speaksTls(frontend) && (isSecured || !all.some(isOpenPlain));
    const certificate = certificateFor(frontend)([name]);
    const losses = [
      ...(certificate === undefined ? lacksCertificate(frontend) : []),
      ...target.losses,
      ...lossesOfBinds(frontend),
      ...lossesOfWays(found, chosen, keeps),
      ...redirects.map(lossOfRedirect),
      ...new Set([...lossesOf(frontend), ...lossesOf(backend)]),
    ];
    const fields = { ...target.fields, ssl_forced: isForced, ...(certificate !== undefined && { certificate }) };
    return toHosts({ place: at, names: [name], fields, losses }, warnings);
  };

  const names = namesIn(configuration, warnings);
  for (const one of onlyRedirectedIn(configuration, (name) => names.has(name))) warnings.push(one);
  return Array.from(names).flatMap(([name, all]) => hostsOf(name, all));
};
