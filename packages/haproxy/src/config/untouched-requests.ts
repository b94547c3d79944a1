import { addedHeaders, destination } from './forwarding.ts';
import { mark } from './loops.ts';
import { hostPattern } from './names.ts';
import { plainOriginServer } from './origin-servers.ts';
import { leaveAtOnce, leaveIfListed, leaveIfOrdinary } from './plain-requests.ts';
import { quote } from './quote.ts';
import { passedAcls } from './remembered-passes.ts';
import type { ConfigSettings } from './settings.ts';

/** Names of headers that rules look for, change or delete, of which none is in most requests; `Host` is in all. */
const touched =
  'host|forwarded|connection|upgrade|x-real-ip|x-forwarded-(?:for|proto|host|port)|x-sallyport-[a-z0-9-]*+';

/** A line of which nothing is to be looked at again: no such name, nobody who may sign a connection in, no control character. */
const otherLine = `(?!(?:${touched}):|authorization:[^\\r]*?(?i:nego|ntlm))[a-z0-9-]++: [\\t\\x20-\\x7e\\x80-\\xff]*+\\r\\n`;

/** Whole header blocks, as HAProxy writes them: one Host that is one name, and such lines. */
const untouched = `\\A(?>${otherLine})*+host: (?=[^\\r]{1,259}\\r)${hostPattern}\\r\\n(?>${otherLine})*+(?:\\r\\n)?\\z`;

/** What these requests have in common besides (see leaveIfOrdinary). */
const asTheyAre = { method: 'repeatable', headers: 'untouched', last: ' as_it_is' };

/**
 * Where requests leave the rules of which not even the headers are to be changed, but for those that we add: most of all. One look at all of
 * them says so, instead of a search for each name. Whatever it does not know, it does not let leave here, and the rules themselves are met.
 * Behind trusted proxies none are looked at, since these send what is looked for. After `routing` and `suspicions`.
 */
export const mostRequests = (settings: ConfigSettings): string =>
  settings.trustedProxies.length > 0
    ? ''
    : `\
  # No rule has anything to look for, to change or to refuse in these headers, nor, as below, in the rest of the request.
  acl untouched req.hdrs -m reg ${quote(untouched)}
  acl as_it_is bool(true),set-var(txn.untouched) -m bool
${leaveAtOnce(settings, asTheyAre)}
`;

const listed = (settings: ConfigSettings): string =>
  settings.guard === null
    ? ''
    : `${passedAcls(settings)}${leaveIfListed(settings, { ...asTheyAre, last: ` may_have_passed has_passed${asTheyAre.last}` })}`;

/** Those of other hosts, once their flags are found, and of clients that an access list has just let pass. */
export const untouchedRequests = (settings: ConfigSettings): string =>
  settings.trustedProxies.length > 0 ? '' : `${leaveIfOrdinary(settings, asTheyAre)}${listed(settings)}\n`;

/** The `use_backend` rule for them. */
export const untouchedBackend = ({ trustedProxies }: ConfigSettings): string =>
  trustedProxies.length > 0 ? '' : '  use_backend untouched if { var(txn.untouched) -m found }\n';

/**
 * One rule that adds all our headers. A rule costs as much for what HAProxy does around a header as for its value, and what it is given is
 * written to an HTTP/1.1 origin as it stands: so line ends in the text of the rule begin the next header. In what is filled in, HAProxy
 * escapes control characters. A version that was not tried may drop or refuse line ends, as other software does: it has a rule for each.
 */
const addHeaders = (instance: string): string => {
  const headers = [...addedHeaders, ['x-sallyport-proxied', mark(instance)]] as const;
  const add = (name: string, value: string) => `  http-request add-header ${name} ${value}\n`;
  const [[name, value], ...others] = headers;
  const values = [value, ...others.map((header) => header.join(': '))];
  return `\
.if version_atleast(3.1)
${headers.map(([each, its]) => add(each, its)).join('')}\
.else
${add(name, `"${values.join(String.raw`\r\n`)}"`)}\
.endif
`;
};

/** Their origins: plain HTTP/1.1, and a method that may be repeated. The headers are added, because the client has sent none of these. */
export const untouchedSection = (settings: ConfigSettings, instance: string): string =>
  settings.trustedProxies.length > 0
    ? ''
    : `
# Plain origins of requests that nothing was done to before.
backend untouched
${addHeaders(instance)}\
${destination()}\
${plainOriginServer()}`;
