import { addAll } from '../add-all.ts';
import { type Loss, loss } from '../loss.ts';
import { inWords, type Redirection } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { type Acls, type Term, termsOf } from './condition.ts';
import type { Line, Section } from './parse.ts';

/** Lines that redirect, with what they redirect by and to. */
export const REDIRECT = /^(?:http-request )?redirect\b/;

/** Whether a line sends what comes without TLS to https. */
export const secures = ({ words }: Line): boolean => /^(?:http-request )?redirect scheme https\b/.test(words.join(' '));

/** A rule that redirects, and which requests. */
export interface Redirect extends Redirection {
  line: Line;
  term: Term;
  /** Names that it is not for. */
  except: ReadonlySet<string>;
}

/** The redirects of a section: by the name that they are for, and whatever the name is. */
export interface Redirects {
  byName: ReadonlyMap<string, readonly Redirect[]>;
  forAll: readonly Redirect[];
}

/** Of each host those for all names are told. */
const MOST_FOR_ALL = 100;

const redirectionOf = ({ words }: Line): Redirection => {
  const from = words.indexOf('redirect') + 1;
  const condition = words.findIndex((word) => word === 'if' || word === 'unless');
  const said = words.slice(from, condition === -1 ? undefined : condition);
  const [kind = '', to = ''] = said;
  const code = said.includes('code') ? (said[said.indexOf('code') + 1] ?? '') : '302';
  if (kind === 'scheme') return { to: `${to}://`, code };
  return { to: kind === 'prefix' ? `${to} with the same path` : to, code };
};

/** The rules of a section that redirect, but for those to https, which a host says in its own way. */
export const redirectsIn = ({ lines }: Section, acls: Acls): Redirects => {
  const byName = new Map<string, Redirect[]>();
  const forAll: Omit<Redirect, 'except'>[] = [];
  for (const line of lines) {
    if (!REDIRECT.test(line.words.join(' ')) || secures(line)) continue;
    const redirection = redirectionOf(line);
    for (const term of termsOf(line, acls)) {
      if (!term.names) forAll.push({ ...redirection, line, term });
      const redirect = { ...redirection, line, term, except: new Set<string>() };
      for (const name of new Set(term.names)) {
        const known = byName.get(name);
        if (known) known.push(redirect);
        else byName.set(name, [redirect]);
      }
    }
  }
  // Who is sent elsewhere for what they are comes first: there may be more than are told.
  const told = forAll.toSorted((a, b) => Number(a.term.isOfRequest) - Number(b.term.isOfRequest));
  return {
    byName,
    forAll: told.slice(0, MOST_FOR_ALL).map((one) => ({ ...one, except: new Set(one.term.except) })),
  };
};

/** Of redirects, those that requests for a name meet. */
export const metBy = (name: string, all: readonly Redirects[]): Redirect[] => {
  const met: Redirect[] = [];
  for (const { byName, forAll } of all) {
    addAll(met, byName.get(name) ?? []);
    addAll(
      met,
      forAll.filter(({ except }) => !except.has(name)),
    );
  }
  return met;
};

/** Whether a redirect is of all requests that its names are asked for. */
export const isOfAll = ({ term }: Redirect): boolean => term.others.length === 0;

/** What is lost of a redirect that a host's requests meet: who is sent elsewhere does not get to the upstream. */
export const lossOfRedirect = (redirect: Redirect): Loss => {
  const { line, term } = redirect;
  const which = isOfAll(redirect) ? 'all requests' : `requests that match ${shorten(term.others.join(', '))}`;
  const message = `${which} are redirected to ${inWords(redirect)} in HAProxy; here they go to the upstream`;
  // For a path that is how a site is laid out.
  return loss(line.at, message, !term.isOfRequest || isOfAll(redirect));
};
