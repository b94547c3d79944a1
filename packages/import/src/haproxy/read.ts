import { atMost } from '../at-most.ts';
import { nameOrWarning, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { type Target, targetOf } from './backend.ts';
import { aclsOf } from './condition.ts';
import { linesOf } from './defaults.ts';
import { lossesIn, secures } from './losses.ts';
import { once } from './once.ts';
import { HaproxyError, type Line, parseHaproxy, type Section } from './parse.ts';
import { type Way, waysBefore, waysOf } from './ways.ts';

const MAX_WARNINGS = 1000;

const EVERYWHERE = new Set(['', '*', '0.0.0.0', '::', '[::]', 'ipv4@', 'ipv6@', 'ipv4@*', 'ipv6@*']);

/** What a frontend does with requests for a name. */
interface Found {
  frontend: Section;
  name: string;
  ways: readonly Way[];
}

const bindsOf = once(({ lines }): Line[] => lines.filter(({ words }) => words[0] === 'bind'));
const securesIn = once(({ lines }): boolean => lines.some(secures));
const speaksTls = ({ frontend }: Found) => bindsOf(frontend).some(({ words }) => words.includes('ssl'));

const lossesOfBinds = once((frontend): Loss[] => {
  const losses: Loss[] = [];
  for (const { at, words } of bindsOf(frontend)) {
    const [, address = words[1] ?? '', port = ''] = /^(.*?):(\d+)$/.exec(words[1] ?? '') ?? [];
    if (!EVERYWHERE.has(address) || words.includes('interface')) {
      const message = `bind ${shorten(words.slice(1).join(' '))}: the host is reached at every address that the proxy listens on`;
      losses.push(loss(at, message, true));
    } else if (port !== '80' && port !== '443') {
      losses.push(loss(at, `port ${port}: the host is reached at the ports that the proxy listens on`));
    }
    if (words.includes('ssl')) losses.push(loss(at, 'each name needs a certificate that is uploaded'));
    if (words.includes('verify') || words.includes('ca-file')) {
      losses.push(loss(at, 'bind asks clients for a certificate, which is not taken over', true));
    }
  }
  return losses;
});

/** Makes proxy hosts of sections. Throws a `HaproxyError`. */
const makeHosts = (sections: readonly Section[], warnings: ImportWarning[]): ImportedHost[] => {
  const stackOf = linesOf(sections);
  const backends = new Map(
    sections.filter(({ kind }) => kind === 'backend' || kind === 'listen').map((one) => [one.name, one]),
  );
  const ownLosses = once((section) => lossesIn(section, aclsOf(stackOf(section))));
  const lossesOf = (section: Section) => stackOf(section).flatMap(ownLosses);
  const targets = once((backend): Target => targetOf(backend, stackOf(backend)));
  const lossesOfBackend = (name: string): Loss[] | undefined => {
    const backend = backends.get(name);
    return backend && 'fields' in targets(backend) ? lossesOf(backend) : undefined;
  };
  /** Whether requests that go this way do not get to where those of the name go. */
  const keeps = ({ term, backend }: Way): boolean =>
    !term.isOfRequest || term.others.length === 0 || (lossesOfBackend(backend)?.some(({ keptOut }) => keptOut) ?? true);
  const byName = new Map<string, Found[]>();
  const before = new Map<Section, ReturnType<typeof waysBefore>>();
  for (const frontend of sections.filter(({ kind }) => kind === 'frontend' || kind === 'listen')) {
    const { byName: ways, forAll } = waysOf(frontend, aclsOf(stackOf(frontend)), warnings);
    before.set(frontend, waysBefore(forAll, keeps));
    for (const [name, own] of ways) {
      const parsed = nameOrWarning(name, own[0]!.line.at, warnings);
      const found = { frontend, name, ways: own };
      if (parsed !== undefined) byName.set(parsed, [...(byName.get(parsed) ?? []), found]);
    }
  }
  const lossesOfWays = ({ frontend, name, ways }: Found, chosen: Way): Loss[] => {
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
    const earlier = before.get(frontend)?.(chosen, name);
    if (earlier) {
      const message = `requests of some visitors go to ${shorten(earlier.backend)} in HAProxy, whatever they ask for`;
      losses.push(loss(earlier.line.at, message, true));
    }
    return losses;
  };
  const isSecured = sections.some(securesIn);
  return Array.from(byName).flatMap(([name, all]) => {
    const found = all.find(speaksTls) ?? all[0]!;
    const chosen = found.ways.find(({ term }) => term.others.length === 0) ?? found.ways[0]!;
    const { at } = chosen.line;
    const backend = backends.get(chosen.backend);
    const target = backend
      ? targets(backend)
      : { impossible: `its backend ${shorten(chosen.backend)} is not in the files` };
    if (!backend || 'impossible' in target) {
      if ('impossible' in target) warnings.push(warn(at, `${name} is not imported: ${target.impossible}`));
      return [];
    }
    const isPlain = all.some(
      ({ frontend }) =>
        !stackOf(frontend).some(securesIn) && bindsOf(frontend).some(({ words }) => !words.includes('ssl')),
    );
    const fields = { ...target.fields, ssl_forced: speaksTls(found) && (isSecured || !isPlain) };
    const losses = [
      ...target.losses,
      ...lossesOfBinds(found.frontend),
      ...lossesOfWays(found, chosen),
      // What both stand on is told once.
      ...new Set([...lossesOf(found.frontend), ...lossesOf(backend)]),
    ];
    return toHosts({ place: at, names: [name], fields, losses }, warnings);
  });
};

/**
 * Reads configurations of HAProxy into proxy hosts: all files together, as HAProxy does. Never throws because of what the files
 * say: that is in the reading's `errors`.
 */
export const readHaproxy = (files: readonly SourceFile[]): Reading => {
  const errors: SourceError[] = [];
  const warnings: ImportWarning[] = [];
  let hosts: ImportedHost[] = [];
  try {
    const sections = files.flatMap(parseHaproxy);
    hosts = makeHosts(sections, warnings);
    const [first] = sections;
    if (hosts.length === 0 && warnings.length === 0) {
      errors.push({
        ...(first?.at ?? { file: files[0]?.name ?? '', line: 1, column: 1 }),
        message: 'no frontend chooses a backend by a name',
        text: first ? `${first.kind} ${shorten(first.name)}`.trim() : '',
      });
    }
  } catch (error) {
    if (!(error instanceof HaproxyError)) throw error;
    errors.push(error.found);
  }
  return { source: 'haproxy', hosts, warnings: atMost(MAX_WARNINGS, warnings), errors, staticFiles: [] };
};
