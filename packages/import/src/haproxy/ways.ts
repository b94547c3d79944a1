import { warn } from '../loss.ts';
import type { ImportWarning } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { type Acls, type Term, termsOf } from './condition.ts';
import type { Line, Section } from './parse.ts';

/** A rule of a frontend that sends requests somewhere. */
export interface Way {
  line: Line;
  /** Which of the frontend's rules it is: the first that fits decides. */
  index: number;
  backend: string;
  term: Term;
}

/** What a frontend does with requests: by the name that they are for, and whatever the name is. */
export interface Ways {
  byName: ReadonlyMap<string, readonly Way[]>;
  forAll: readonly Way[];
}

/** The rules of a frontend, in their order. Those without a name are in `warnings`, too. */
export const waysOf = (frontend: Section, acls: Acls, warnings: ImportWarning[]): Ways => {
  const byName = new Map<string, Way[]>();
  const forAll: Way[] = [];
  let hasDefault = false;
  for (const [index, line] of frontend.lines.entries()) {
    const [what, backend = ''] = line.words;
    if (what === 'default_backend') {
      hasDefault = true;
      const message = `requests for any other name go to ${shorten(backend)} in HAProxy; a proxy host needs a name`;
      warnings.push(warn(line.at, message));
    }
    if (what !== 'use_backend') continue;
    for (const term of termsOf(line, acls)) {
      const way = { line, index, backend, term };
      if (!term.names) {
        forAll.push(way);
        warnings.push(warn(line.at, `${shorten(line.words.join(' '))} is not imported: it asks for no name`));
      }
      for (const name of new Set(term.names)) {
        const known = byName.get(name);
        if (known) known.push(way);
        else byName.set(name, [way]);
      }
    }
  }
  if (byName.size === 0 && forAll.length === 0 && !hasDefault) {
    const what = `${frontend.kind} ${shorten(frontend.name)}`;
    warnings.push(warn(frontend.at, `${what} is not imported: it chooses no backend by a name`));
  }
  return { byName, forAll };
};

const MOST_EXCEPTIONS = 50;

/** Of the ways that are for all names, those that come before a name's own and lead elsewhere; the first of each backend. */
export const waysBefore = (forAll: readonly Way[], keeps: (way: Way) => boolean) => {
  const always = new Map<string, Way>();
  const exceptions: Way[] = [];
  for (const way of forAll) {
    if (!keeps(way)) continue;
    if (way.term.except.length > 0 && exceptions.length < MOST_EXCEPTIONS) exceptions.push(way);
    else if (!always.has(way.backend) && always.size < 2) always.set(way.backend, way);
  }
  return (chosen: Way, name: string): Way | undefined =>
    [...always.values(), ...exceptions].find(
      ({ index, backend, term }) => index < chosen.index && backend !== chosen.backend && !term.except.includes(name),
    );
};
