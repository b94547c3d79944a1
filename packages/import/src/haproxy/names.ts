import { nameOrWarning } from '../draft.ts';
import { warn } from '../loss.ts';
import type { ImportWarning } from '../reading.ts';
import { inWords, onlyRedirects } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import type { Configuration } from './configuration.ts';
import type { Section } from './parse.ts';
import { isOfAll, lossOfRedirect, type Redirect } from './redirects.ts';
import { type Way, waysBefore, waysOf } from './ways.ts';

/** What a frontend does with requests for a name. */
export interface Found {
  frontend: Section;
  name: string;
  ways: readonly Way[];
  /** The way of some visitors that comes before the one that is chosen, whatever name they ask for. */
  before: (chosen: Way) => Way | undefined;
}

/** Names, as our API takes them, with what each frontend that has a way for them does. */
export type FoundNames = ReadonlyMap<string, readonly Found[]>;

/** Whether requests that go this way do not get to where those of a name go. */
export const keepsAway =
  ({ backends, targetOf, lossesOf }: Configuration) =>
  ({ term, backend: name }: Way): boolean => {
    if (!term.isOfRequest || term.others.length === 0) return true;
    const backend = backends.get(name);
    return !backend || !('fields' in targetOf(backend)) || lossesOf(backend).some(({ keptOut }) => keptOut);
  };

/** The names that frontends choose a backend by. What is for no name, or for none that can be had, is in `warnings`. */
export const namesIn = (configuration: Configuration, warnings: ImportWarning[]): FoundNames => {
  const names = new Map<string, Found[]>();
  const keeps = keepsAway(configuration);
  for (const frontend of configuration.frontends) {
    const { byName, forAll } = waysOf(frontend, configuration.aclsOf(frontend), warnings);
    const before = waysBefore(forAll, keeps);
    for (const [name, ways] of byName) {
      const parsed = nameOrWarning(name, ways[0]!.line.at, warnings);
      if (parsed === undefined) continue;
      const found = { frontend, name, ways, before: (chosen: Way) => before(chosen, name) };
      const others = names.get(parsed);
      if (others) others.push(found);
      else names.set(parsed, [found]);
    }
  }
  return names;
};

const said = (names: readonly string[]): string => shorten(names.join(', '), 200);

/** What frontends redirect whose names have no way to a backend. */
export const onlyRedirectedIn = (
  { frontends, redirectsOf, stackOf }: Configuration,
  hasWay: (name: string) => boolean,
): ImportWarning[] => {
  const warnings: ImportWarning[] = [];
  const told = new Set<Section>();
  for (const section of frontends.flatMap((frontend) => stackOf(frontend))) {
    if (told.has(section)) continue;
    told.add(section);
    const { byName, forAll } = redirectsOf(section);
    const byLine = new Map<Section['lines'][number], { redirect: Redirect; names: string[] }>();
    for (const [name, redirects] of byName) {
      if (hasWay(name)) continue;
      for (const redirect of redirects) {
        const known = byLine.get(redirect.line);
        if (known) known.names.push(name);
        else byLine.set(redirect.line, { redirect, names: [name] });
      }
    }
    for (const { redirect, names } of byLine.values()) {
      const why = isOfAll(redirect) ? onlyRedirects(redirect) : lossOfRedirect(redirect).warning.message;
      warnings.push(warn(redirect.line.at, `${said(names)} is not imported: ${why}`));
    }
    const what = section.name === '' ? section.kind : `${section.kind} ${shorten(section.name)}`;
    for (const redirect of forAll.filter((one) => one.term.others.length === 0)) {
      const message = `requests to ${what} for any other name are redirected to ${inWords(redirect)} in HAProxy; a proxy host needs a name`;
      warnings.push(warn(redirect.line.at, message));
    }
  }
  return warnings;
};
