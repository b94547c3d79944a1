import { atMost } from '../at-most.ts';
import { nameOrWarning, shorten, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { lossesIn, type Target, targetOf } from './backend.ts';
import { aclsOf, termsOf } from './condition.ts';
import { HaproxyError, type Line, parseHaproxy, type Section } from './parse.ts';

const MAX_WARNINGS = 1000;

const EVERYWHERE = new Set(['', '*', '0.0.0.0', '::', '[::]', 'ipv4@', 'ipv6@', 'ipv4@*', 'ipv6@*']);

/** A rule of a frontend that sends a name's requests somewhere. */
interface Way {
  line: Line;
  backend: string;
  others: string[];
}

interface Found {
  frontend: Section;
  ways: Way[];
}

/** Computed once for a section: a frontend may have ten thousand names. */
const once = <T>(compute: (section: Section) => T): ((section: Section) => T) => {
  const known = new WeakMap<Section, { value: T }>();
  return (section) => {
    const found = known.get(section) ?? { value: compute(section) };
    known.set(section, found);
    return found.value;
  };
};

const bindsOf = once(({ lines }): Line[] => lines.filter(({ words }) => words[0] === 'bind'));

const securesIn = once(({ lines }): boolean =>
  lines.some(({ words }) => /^(?:http-request )?redirect scheme https\b/.test(words.join(' '))),
);

/** The names of a frontend, and for each the rules that are for it, in their order. */
const waysOf = (frontend: Section, warnings: ImportWarning[]): Map<string, Way[]> => {
  const acls = aclsOf(frontend);
  const ways = new Map<string, Way[]>();
  for (const line of frontend.lines) {
    const [what, backend = ''] = line.words;
    if (what === 'default_backend') {
      const message = `requests for any other name go to ${shorten(backend)} in HAProxy; a proxy host needs a name`;
      warnings.push(warn(line.at, message));
    }
    if (what !== 'use_backend') continue;
    for (const { names, others } of termsOf(line, acls)) {
      if (!names) warnings.push(warn(line.at, `${shorten(line.words.join(' '))} is not imported: it asks for no name`));
      for (const name of new Set(names)) {
        const known = ways.get(name);
        if (known) known.push({ line, backend, others });
        else ways.set(name, [{ line, backend, others }]);
      }
    }
  }
  return ways;
};

const lossesOf = ({ frontend, ways }: Found, chosen: Way, target: Target): Loss[] => {
  const losses: Loss[] = 'losses' in target ? [...target.losses] : [];
  for (const { at, words } of bindsOf(frontend)) {
    const [, address = words[1] ?? '', port = ''] = /^(.*?):(\d+)$/.exec(words[1] ?? '') ?? [];
    if (!EVERYWHERE.has(address)) {
      const message = `bind ${shorten(words[1] ?? '')}: the host is reached at every address that the proxy listens on`;
      losses.push(loss(at, message, true));
    } else if (port !== '80' && port !== '443') {
      losses.push(loss(at, `port ${port}: the host is reached at the ports that the proxy listens on`));
    }
    if (words.includes('ssl')) losses.push(loss(at, 'each name needs a certificate that is uploaded'));
    if (words.includes('verify') || words.includes('ca-file')) {
      losses.push(loss(at, 'bind asks clients for a certificate, which is not taken over', true));
    }
  }
  if (chosen.others.length > 0) {
    const which = shorten(chosen.others.join(', '));
    losses.push(
      loss(chosen.line.at, `only requests that match ${which} go to this upstream in HAProxy, here all do`, true),
    );
  }
  for (const { line, backend } of ways) {
    if (backend === chosen.backend) continue;
    losses.push(
      loss(line.at, `some requests go to ${shorten(backend)} in HAProxy; a proxy host sends all to one upstream`),
    );
  }
  return losses;
};

const makeHosts = (sections: readonly Section[], warnings: ImportWarning[]): ImportedHost[] => {
  const backends = new Map(sections.filter(({ kind }) => kind !== 'frontend').map((one) => [one.name, one]));
  const defaults = sections.filter(({ kind }) => kind === 'defaults');
  const modeOf = (section: Section) =>
    [...defaults, section].flatMap(({ lines }) => lines).findLast(({ words }) => words[0] === 'mode')?.words[1];
  const shared = defaults.flatMap(lossesIn);
  const lossesOnce = once(lossesIn);
  const byName = new Map<string, Found[]>();
  for (const frontend of sections.filter(({ kind }) => kind === 'frontend' || kind === 'listen')) {
    for (const [name, ways] of waysOf(frontend, warnings)) {
      const parsed = nameOrWarning(name, ways[0]!.line.at, warnings);
      if (parsed !== undefined) byName.set(parsed, [...(byName.get(parsed) ?? []), { frontend, ways }]);
    }
  }
  const secures = sections.some(securesIn);
  return Array.from(byName).flatMap(([name, all]) => {
    const speaksTls = ({ frontend }: Found) => bindsOf(frontend).some(({ words }) => words.includes('ssl'));
    const found = all.find(speaksTls) ?? all[0]!;
    const isSecure = speaksTls(found);
    const chosen = found.ways.find(({ others }) => others.length === 0) ?? found.ways[0]!;
    const { at } = chosen.line;
    const backend = backends.get(chosen.backend);
    const missing = { impossible: `its backend ${shorten(chosen.backend)} is not in the files` };
    const target = backend ? targetOf(backend, (modeOf(backend) ?? 'tcp') !== 'http') : missing;
    if (!backend || 'impossible' in target) {
      const why = 'impossible' in target ? target.impossible : missing.impossible;
      warnings.push(warn(at, `${name} is not imported: ${why}`));
      return [];
    }
    const isPlain = all.some(
      ({ frontend }) => !securesIn(frontend) && bindsOf(frontend).some(({ words }) => !words.includes('ssl')),
    );
    const fields = { ...target.fields, ssl_forced: isSecure && (secures || !isPlain) };
    const losses = [
      ...lossesOf(found, chosen, target),
      ...shared,
      ...lossesOnce(found.frontend),
      ...lossesOnce(backend),
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
        ...(first?.at ?? { file: files[0]?.name ?? '', line: 1 }),
        message: 'no frontend chooses a backend by a name',
      });
    }
  } catch (error) {
    if (!(error instanceof HaproxyError)) throw error;
    errors.push(error.found);
  }
  return { source: 'haproxy', hosts, warnings: atMost(MAX_WARNINGS, warnings), errors, staticFiles: [] };
};
