import type { GlobalOptions, Handler, Site } from '@sallyport/caddyfile';
import { inWords } from '../redirection.ts';
import { keepsOut } from './loss.ts';
import type { SiteName } from './names.ts';
import { redirectionOf } from './redirection.ts';
import type { Trace } from './trace.ts';

/** A name of a site and what becomes of its requests. */
export interface Entry extends SiteName {
  site: Site;
  trace: Trace;
}

/** What is left out, and whether that kept requests out. */
interface Note {
  message: string;
  keptOut: boolean;
}

/** The entry that a name's host is made of. */
export interface Resolved {
  entry: Entry;
  sslForced: boolean;
  /** What the others say differently. */
  notes: Note[];
}

const leadsTo = (handler: Handler | undefined): string =>
  (handler?.proxy?.upstreams ?? []).map(({ token }) => token.text).join(' ');

/** Whether a site does nothing but send to the same name by https. */
const onlyGoesSecure = ({ trace }: Entry): boolean =>
  trace.primary === undefined && trace.end?.name === 'redir' && /^https:\/\//.test(trace.end.args[0]?.text ?? '');

/** Of several sites for one name, the one that a proxy host is made of, and whether http only leads to https. */
export const resolveName = (entries: readonly Entry[], { autoHttps, httpsPort }: GlobalOptions): Resolved => {
  const redirects = !autoHttps.includes('off') && !autoHttps.includes('disable_redirects');
  const own = entries.filter(({ isOfMatcher }) => !isOfMatcher);
  const candidates = own.length > 0 ? own : entries;
  const usable = candidates.filter(({ trace }) => trace.primary || trace.partial.length > 0);
  const isDefault = ({ secure }: Entry) => secure !== undefined && (secure.port ?? httpsPort) === httpsPort;
  const entry =
    usable.find(isDefault) ?? usable.find(({ secure }) => secure !== undefined) ?? usable[0] ?? candidates[0]!;
  if (entry.secure === undefined) return { entry, sslForced: false, notes: othersOf(entry, candidates) };
  if (entry.plain) return { entry, sslForced: false, notes: othersOf(entry, candidates) };
  const plain = candidates.find((one) => one !== entry && one.plain);
  if (plain && onlyGoesSecure(plain)) {
    return {
      entry,
      sslForced: true,
      notes: othersOf(
        entry,
        candidates.filter((one) => one !== plain),
      ),
    };
  }
  if (plain && leadsTo(plain.trace.primary) === leadsTo(entry.trace.primary)) {
    return {
      entry,
      sslForced: false,
      notes: othersOf(
        entry,
        candidates.filter((one) => one !== plain),
      ),
    };
  }
  return { entry, sslForced: redirects, notes: othersOf(entry, candidates) };
};

const whereTo = ({ primary, end }: Trace): string => {
  const redirect = primary === undefined && end ? redirectionOf(end) : undefined;
  return redirect ? `: it redirects to ${inWords(redirect)}` : '';
};

const othersOf = (entry: Entry, candidates: readonly Entry[]): Note[] =>
  candidates
    .filter((one) => one !== entry)
    .map(({ site, plain, secure, trace }) => ({
      message: `the site ${(secure ?? plain)!.token.text} (${site.place.file}:${site.place.line}) has the same name and is left out${whereTo(trace)}`,
      // The one without TLS is not reached any more where there is one with it.
      keptOut: (secure !== undefined || entry.secure === undefined) && keepsOut(site.handlers),
    }));
