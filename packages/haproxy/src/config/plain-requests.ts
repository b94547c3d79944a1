import { routeFlags } from '../routes/flags.ts';
import { asksForChallenge } from './challenges.ts';
import { judgedFlags, limitKey } from './enforced.ts';
import { dataPlaneFiles } from './layout.ts';
import { carriesMarks } from './loops.ts';
import type { ConfigSettings } from './settings.ts';

/** Flags of origins that need a server with options of its own. */
export const specialOrigins = routeFlags.tlsOrigin | routeFlags.http2Origin | routeFlags.ownApi;

const { accessList, blockExploits, sslForced, standardHeaders, websocket } = routeFlags;

/** An ACL: of what rules know flags for, these are set. */
const hostHas = (flags: number, ignored = 0): string =>
  `var(txn.flags),and(${(blockExploits | sslForced | standardHeaders | judgedFlags | specialOrigins | carriesMarks) & ~ignored}) -m int ${flags}`;

/** Conditions for a client that nobody decided about and nobody limits. */
const inNobodysList = (rateLimit: ConfigSettings['rateLimit']): string =>
  `cleared${rateLimit === null ? '' : ' unlimited'}`;

/** What else has to hold, each in HAProxy's words: `first` and `last` with a space to what is next to them. */
type Leaving = { first?: string; headers?: string; method?: string; last?: string };

/** A rule by which requests leave, of hosts that `hosts` says; the target is left to the rest of the condition, `last` in it. */
const leave = (
  { rateLimit }: ConfigSettings,
  hosts: string,
  { first = '', headers = '!upgrade', method = '!no_business', last = '' }: Leaving,
): string =>
  `  http-request allow if ${first}${hosts} ${headers} ${method} readable_target !without_headers ${inNobodysList(rateLimit)}${last}\n`;

/** The rules by which ordinary requests leave. */
export const leaveIfOrdinary = (settings: ConfigSettings, leaving: Leaving = {}): string => {
  const also = leaving.last ?? '';
  const strict = { ...leaving, last: ` !notable${also}` };
  const lenient = { ...leaving, last: ` web_target !${asksForChallenge}${also}` };
  return [
    leave(settings, 'ordinary_host', strict),
    leave(settings, 'over_tls forces_tls', strict),
    leave(settings, `lenient_host !{ var(txn.flags),and(${sslForced}) -m bool }`, lenient),
    leave(settings, 'lenient_host over_tls', lenient),
  ].join('');
};

/** Flags of most hosts; whether they take WebSockets is no concern of a request for anything else. */
const mostFlags = [standardHeaders | blockExploits, standardHeaders | blockExploits | websocket];

/** The rule by which requests of most hosts leave before their flags are found, by how the record begins: nobody asks for these flags later. */
export const leaveAtOnce = (settings: ConfigSettings, leaving: Leaving): string =>
  leave(settings, `{ var(txn.route) -m beg ${mostFlags.map((flags) => `${flags}|`).join(' ')} }`, {
    ...leaving,
    last: ` !notable${leaving.last ?? ''}`,
  });

/** The same for hosts with an access list; `leaving` says that it let the client pass. */
export const leaveIfListed = (settings: ConfigSettings, leaving: Leaving): string =>
  `  acl listed_host ${hostHas(standardHeaders | blockExploits | accessList, sslForced)}\n${leave(
    settings,
    'listed_host needs_no_redirect',
    { ...leaving, last: ` !notable${leaving.last ?? ''}` },
  )}`;

/** ACLs of the rules by which they leave. */
export const ordinaryAcls = ({ rateLimit }: ConfigSettings): string => `\
  acl upgrade req.hdr(upgrade) -m found
${rateLimit === null ? '' : `  acl unlimited str(${limitKey}),map_str_int(${dataPlaneFiles.limitsMap},-1) -m int 0\n`}\
  acl ordinary_host ${hostHas(standardHeaders | blockExploits)}
  acl lenient_host ${hostHas(standardHeaders, sslForced)}
  acl forces_tls ${hostHas(standardHeaders | blockExploits, sslForced)}
  acl needs_no_redirect var(sess.tls) -m found
  acl needs_no_redirect var(txn.flags),and(${sslForced}) -m int 0
  # A probe, a challenge, an escape, or a target that is no path and none of the web's: found by one look.
  acl notable url -m reg -i -f ${dataPlaneFiles.notablePatterns}

`;

/**
 * Where most requests leave the rules, with one condition instead of those of all rules that follow. It holds for what
 * none of them would touch or refuse: each of its parts says of one of them why. Whatever is missing (a map's entry, the
 * route) makes it fail, and the request meets the rules themselves.
 */
export const ordinaryRequests = (settings: ConfigSettings): string => `\
  # Nothing that follows is about most requests: the target is a path, nobody decided anything about the client, nobody is
  # limited, there is no upgrade and no mark of a deployment, and the host has nothing but the usual headers and block_exploits.
${leaveIfOrdinary(settings)}
`;

/** Finds judged requests of which the same holds, judgement apart (`ordinary_judged`). Administrators are not judged: not they. */
export const ordinaryJudgedRequests = ({ rateLimit, guard }: ConfigSettings): string =>
  guard === null
    ? ''
    : `\
  acl judged_host ${hostHas(standardHeaders, judgedFlags | sslForced | blockExploits)}
  acl ordinary_judged var(txn.ordinary) -m found
${['!blocks_exploits', 'blocks_exploits !probe !encoded']
  .map(
    (exploits) =>
      `  http-request set-var(txn.ordinary) bool(true) if judged judged_host ${exploits} needs_no_redirect ${inNobodysList(rateLimit)} !upgrade !whitelisted\n`,
  )
  .join('')}\
`;

/** The `use_backend` rule for most requests, before all others; one that was not routed yet has no flags and is no concern of it. */
export const ordinaryBackend = (): string => `\
  use_backend origins if { var(txn.flags),and(${judgedFlags | specialOrigins}) -m int 0 }
`;

/** Where others leave the rules, once they were looked at: those of limited clients above all, and those with escapes in their URL. */
export const plainRequests = ({ guard }: ConfigSettings): string => `\
  # Nothing that follows is about a request that asks for no upgrade, of a host without any of that.
  acl plain_host var(txn.flags),and(${sslForced | standardHeaders}) -m int ${standardHeaders}
  http-request allow if plain_host !refused !upgrade${guard === null ? '' : ' !judged'}

`;

/** Path of the emergency reset of the management API (spec, Emergency recovery). */
const emergencyReset = '/api/v1/emergency/security-reset';

/**
 * The way back in, where the management API is a host of the proxy itself: no ban, limit, list or rule stands before it. The server looks
 * at the address, the token and how often somebody tries.
 */
export const emergencyRequests = (): string => `\
  # Nothing of ours stands before the emergency reset.
  acl emergency path ${emergencyReset}
  acl emergency_host var(txn.flags),and(${routeFlags.ownApi}) -m bool
  http-request set-var(txn.flags) int(${routeFlags.ownApi | standardHeaders}) if emergency METH_POST emergency_host
  http-request set-var(txn.judge) int(0) if emergency METH_POST emergency_host
  http-request allow if emergency METH_POST emergency_host

`;
