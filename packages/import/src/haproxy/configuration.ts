import type { Loss } from '../loss.ts';
import { type Target, targetOf } from './backend.ts';
import { type Acls, aclsOf } from './condition.ts';
import { linesOf } from './defaults.ts';
import { lossesIn } from './losses.ts';
import { once } from './once.ts';
import type { Section } from './parse.ts';
import { type Redirects, redirectsIn } from './redirects.ts';

/** All sections together; what is asked of each is computed once. */
export interface Configuration {
  sections: readonly Section[];
  frontends: readonly Section[];
  backends: ReadonlyMap<string, Section>;
  /** A section's own lines, then the defaults that it stands on. */
  stackOf: (section: Section) => readonly Section[];
  aclsOf: (section: Section) => Acls;
  lossesOf: (section: Section) => readonly Loss[];
  redirectsOf: (section: Section) => Redirects;
  targetOf: (backend: Section) => Target;
}

/** Puts sections together. Throws a `HaproxyError` for defaults that are not there. */
export const configurationOf = (sections: readonly Section[]): Configuration => {
  const stackOf = linesOf(sections);
  const acls = once((section) => aclsOf(stackOf(section)));
  const ownLosses = once(lossesIn);
  const redirectsOf = once((section) => redirectsIn(section, acls(section)));
  const ofKind = (...kinds: string[]) => sections.filter(({ kind }) => kinds.includes(kind));
  return {
    sections,
    frontends: ofKind('frontend', 'listen'),
    backends: new Map(ofKind('backend', 'listen').map((one) => [one.name, one])),
    stackOf,
    aclsOf: acls,
    lossesOf: (section) => stackOf(section).flatMap(ownLosses),
    redirectsOf,
    targetOf: once((backend) => targetOf(backend, stackOf(backend))),
  };
};
