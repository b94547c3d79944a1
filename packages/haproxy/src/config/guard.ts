import { routeFlags } from '../routes/flags.ts';
import { socketAddress } from './confinement.ts';
import { judgedFlags, switchKeys } from './enforced.ts';
import { dataPlaneFiles } from './layout.ts';
import { rememberRequest } from './log-format.ts';
import { originServers } from './origin-servers.ts';
import { quote } from './quote.ts';
import { reference } from './reference.ts';
import { passTable, rememberPass } from './remembered-passes.ts';
import type { ConfigSettings, GuardSettings } from './settings.ts';

/** Longest body that is waited for and judged in HAProxy's buffer; longer ones go through the relay. */
const inlineBodyBytes = ({ bufferBytes }: ConfigSettings): number => bufferBytes / 2;

const failOpen = `str(${switchKeys.failOpen}),map_str_int(${dataPlaneFiles.switchesMap},0) -m int eq 1`;

/** Sample of the revision that a verdict has to be of. */
export const requiredPolicy = `str(${switchKeys.policy}),map_str_int(${dataPlaneFiles.switchesMap},0)`;

/** ACLs of the rules that follow, for both. */
export const judgedAcls = ({ guard }: ConfigSettings): string =>
  guard === null
    ? ''
    : `\
  # What guards have to judge: what the record says but for what is switched off at the moment; without a word about that, all of it.
  acl may_be_judged var(txn.flags),and(${judgedFlags}) -m bool
`;

/**
 * What guards are not asked about at the moment is taken off the flags, as soon as these are found: with everything off, a host that has the
 * firewall switched on, as new ones have, is as plain as any. `condition` is HAProxy's, with a space after it. Hosts that have neither access
 * list nor firewall pay for no look-up. After `judgedAcls`.
 */
export const askedFor = ({ guard }: ConfigSettings, condition = ''): string =>
  guard === null
    ? ''
    : `\
  http-request set-var(txn.flags) str(${switchKeys.unasked}),map_str_int(${dataPlaneFiles.switchesMap},0),and(${judgedFlags}),cpl,and(txn.flags) if ${condition}may_be_judged

`;

/** Which judgement a request needs. */
export const judged = (settings: ConfigSettings): string =>
  settings.guard === null
    ? ''
    : `\
  # Administrators are never judged.
  http-request set-var(txn.judge) var(txn.flags),and(${judgedFlags}) if may_be_judged
  acl judged var(txn.judge) -m int gt 0
  acl firewalled var(txn.judge),and(${routeFlags.firewall}) -m bool

`;

/** Where a body would be, and whether the firewall looks into the answer as well. */
const bodies = `\
  acl has_length req.hdr(content-length) -m found
  acl chunked req.hdr(transfer-encoding) -m found
  acl compressed req.hdr(content-encoding) -m found
  acl inspects_answers var(txn.flags),and(${routeFlags.inspectResponses}) -m bool
`;

/**
 * Where most requests of judged hosts leave the rules, once they were found to be as ordinary as those of others (`ordinary_judged`, see
 * plain-requests.ts): the judgement is all that is left for them, of the client alone or of a request without a body.
 */
export const ordinaryJudged = (settings: ConfigSettings): string =>
  settings.guard === null
    ? ''
    : `\
${bodies}\
  http-request allow if ordinary_judged !firewalled
  # Over HTTP/2, a body may come without a length.
  http-request wait-for-body time 30s at-least 1 if ordinary_judged !has_length
  http-request allow if ordinary_judged !has_length !chunked !compressed !inspects_answers { req.body_len 0 }

`;

/** Whether the body has to be read for the judgement, and who is never judged. */
export const judging = (settings: ConfigSettings): string =>
  settings.guard === null
    ? ''
    : `\
  http-request set-var(txn.judge) int(0) if judged whitelisted

  # The firewall sees whole bodies. Short ones are waited for; longer ones, and all whose length is not known before
  # their end, take the relay, so that padding a request gets nothing past the rules.
  http-request wait-for-body time 30s at-least 1 if firewalled !has_length !upgrade
  http-request wait-for-body time 30s if firewalled has_length { req.body_size le ${inlineBodyBytes(settings)} }
  http-request set-var(txn.held) req.body_len if firewalled
  http-request set-var(txn.relayed) bool(true) if firewalled has_length { req.body_size,sub(txn.held) gt 0 }
  http-request set-var(txn.relayed) bool(true) if firewalled !has_length { var(txn.held) -m int gt 0 }
  # Chunked, even an empty one may have trailers, which nobody judges and the relay does not pass on.
  http-request set-var(txn.relayed) bool(true) if firewalled chunked
  # A few compressed bytes may be megabytes to judge: not by the thread that everybody waits for.
  http-request set-var(txn.relayed) bool(true) if firewalled compressed
  # Answers are inspected where they pass through the guard, whatever the request asked for: only the origin can upgrade.
  http-request set-var(txn.relayed) bool(true) if firewalled inspects_answers
  acl relayed var(txn.relayed) -m found
  acl fail_open ${failOpen}

`;

/** Sends judged requests where they are judged. */
export const judgedBackends = ({ guard }: ConfigSettings): string =>
  guard === null
    ? ''
    : `\
  use_backend origins if !judged !special_origin
  use_backend relay if relayed { nbsrv(relay) gt 0 }
  use_backend relay if relayed !fail_open
  use_backend guarded if judged !relayed
`;

/**
 * The halves of the guards, by their numbers. Up to HAProxy 3.0 each of its threads puts question after question to one connection, as long
 * as that has room, so that with one agent for all of them one guard judged nearly everything while the others had nothing to do.
 */
const halves = ['even', 'odd'] as const;
type Half = (typeof halves)[number];

/** The numbers of a half's guards. */
const guardsOf = ({ agents: paths }: GuardSettings, half: Half): number[] =>
  [...paths.keys()].filter((index) => paths.length === 1 || halves[index % halves.length] === half);

const spopMode = `\
.if version_atleast(3.1)
  mode spop
.else
  mode tcp
.endif
`;

/** Rules that put a request to a half of the guards; `condition` is HAProxy's. */
const ask = (half: Half, condition: string): string => `\
  http-request send-spoe-group ${half} request if firewalled ${condition}
  http-request send-spoe-group ${half} client if !firewalled ${condition}
`;

/** Conditions of `turns`, for the section that has its rules. */
export const turnAcls = (guard: GuardSettings): string => {
  const own = (half: Half): string =>
    guardsOf(guard, half)
      .map((index) => `  acl ${half}_own srv_is_up(guards_${half}/guard-${index})\n`)
      .join('');
  return `\
  # No answer in time (1): the guard hangs, and others need not. It is not asked again, for there is no time for more; nor for the half
  # that it stands in for.
  acl hung var(txn.guard.error) -m int 1
  acl even_hung var(txn.even_hung) -m found
  acl odd_hung var(txn.odd_hung) -m found
${own('even')}${own('odd')}\
  acl none_left var(txn.none_left) -m found
`;
};

/** Condition that somebody of a half is there, or of the other one in its place; else each of its questions would wait for an answer. */
const isThere = (half: Half): string => `!none_left { nbsrv(guards_${half}) gt 0 }`;

/** Rule after a half has hung: who is left may have been asked for both. */
const unlessOthers = (half: Half): string =>
  `  http-request set-var(txn.none_left) bool(true) if ${half}_hung !even_own or ${half}_hung !odd_own\n`;

/**
 * Rules that ask one half by lot, then the other, as long as nobody has answered; each once more, unless it hangs, because a connection
 * may be closed or lost (the guard has ended, or takes new rules) when the question is put. `asked` are the rules that put it if
 * `unanswered` and what they are given hold, `then` those that look at the answer.
 */
const turns = (asked: (half: Half, condition: string) => string, unanswered: string, then: string): string => `\
${asked('even', `{ rand(2) -m int 0 } { nbsrv(guards_even) gt 0 }`)}${then}\
  http-request set-var(txn.even_hung) bool(true) if hung
  http-request unset-var(txn.guard.error) if even_hung
${unlessOthers('even')}\
${asked('odd', `${unanswered} ${isThere('odd')}`)}${then}\
  http-request set-var(txn.odd_hung) bool(true) if hung
  http-request unset-var(txn.guard.error) if odd_hung
${unlessOthers('odd')}\
${asked('even', `${unanswered} !even_hung ${isThere('even')}`)}${then}\
${asked('odd', `${unanswered} !odd_hung ${isThere('odd')}`)}${then}`;

/** Rules that ask who is there; `txn.guard.relay` is a relay that HAProxy finds up, of a guard that has just answered, or not set. */
export const askWhoever = ({ relays }: GuardSettings): string => {
  const forget = relays
    .map((_, index) => {
      const isDown = `{ var(txn.guard.relay) -m int ${index} } !{ srv_is_up(relay/relay-${index}) }`;
      return `  http-request unset-var(txn.guard.relay) if ${isDown}\n`;
    })
    .join('');
  const asked = (half: Half, condition: string) => `  http-request send-spoe-group ${half} whoever if ${condition}\n`;
  return turns(asked, '!answered', forget);
};

/** The engines of the SPOE file. */
export const spoeFilters = ({ spoeFile }: GuardSettings): string =>
  halves.map((half) => `  filter spoe engine ${half} config ${quote(spoeFile)}\n`).join('');

/**
 * What becomes of a connection that no guard takes. As long as a question waits, SPOE makes another one at once, many thousands of times
 * until it is given up (seen with 2.6 and 3.0): it is kept for a moment when nobody is there.
 */
const refusedConnections = `\
.if !version_atleast(3.1)
  tcp-request inspect-delay 50ms
  tcp-request content accept if { nbsrv gt 0 }
  tcp-request content accept if WAIT_END
.endif
`;

const guardsBackend = (settings: ConfigSettings, guard: GuardSettings, half: Half): string => {
  const own = guardsOf(guard, half);
  const line = (index: number, more: string): string =>
    `  server guard-${index} ${socketAddress(settings, guard.agents[index] ?? '')}${more}\n`;
  const others = [...guard.agents.keys()].filter((index) => !own.includes(index));
  const servers = [
    ...own.map((index) => line(index, others.length > 0 ? ' on-marked-up shutdown-backup-sessions' : '')),
    ...others.map((index) => line(index, ' backup')),
  ];
  return `\
backend guards_${half}
${spopMode}\
  # By turns, because then a guard that takes no connection is left for another one at once.
  balance roundrobin
  option redispatch 1
  option allbackups
${refusedConnections}\
  no option http-no-delay
  option spop-check
  timeout connect 1s
  timeout server 3m
  timeout check 2s
  # A guard that hangs loses its connections, and with them every further question. One that takes no connection is down at once. The other
  # half stands in for those that are down, until one of them is back: connections that stayed there would bring it both halves' questions.
  default-server check inter 500ms downinter 100ms rise 1 fall 2 observe layer4 error-limit 1 on-error mark-down on-marked-down shutdown-sessions
${servers.join('')}`;
};

/** Rules that look at what a guard answered. */
const judgement = `\
${rememberPass('passed')}\
  http-request allow if passed
  http-request unset-var(txn.guard.verdict) if unprepared
`;

/** Origins behind the guard, and the guard. A request leaves the first section only by its first rule, or is refused. */
export const guardSections = (settings: ConfigSettings): string => {
  const { guard } = settings;
  if (guard === null) return '';
  return `
# Origins of hosts with an access list or the firewall. The question to the guard is in the SPOE file.
backend guarded
${spoeFilters(guard)}\
  acl firewalled var(txn.judge),and(${routeFlags.firewall}) -m bool
  http-request set-var(txn.reference) ${reference}
  acl has_verdict var(txn.guard.verdict) -m found
${turnAcls(guard)}\
  acl passed var(txn.guard.verdict) -m str pass
  # A guard that has nothing to judge by, or something older than what is asked for, says so. Another one may have it.
  acl unprepared var(txn.guard.layer) -m str guard
${turns(ask, '!has_verdict', judgement)}\
${rememberRequest()}\
  # No verdict, whatever the reason: refused, unless the operator chose to let such requests pass. Where a guard was there and not
  # prepared, it is refused in any case.
  acl fail_open ${failOpen}
  http-request track-sc1 int(1) table unjudged if !has_verdict
  http-request sc-inc-gpc0(1) if !has_verdict
  http-request sc-inc-gpc1(1) if !has_verdict !unprepared fail_open
  http-request allow if !has_verdict !unprepared fail_open
  http-request set-var(txn.refused) str(guard) if !has_verdict
  http-request set-var(txn.message) str("This request could not be checked. Please try again.") if !has_verdict
  http-request deny deny_status 503 if !has_verdict
${refusals('http-request', 'var(txn.guard.layer)', 'var(txn.guard.status)')}\
  acl dropped var(txn.guard.verdict) -m str drop
  acl redirected var(txn.guard.verdict) -m str redirect
  http-request silent-drop if dropped
  http-request redirect location %[var(txn.guard.location)] code 302 if redirected
  http-request deny deny_status 400 if bad_request
  http-request deny deny_status 413 if too_large
  http-request deny deny_status 403
${originServers(settings)}\

# Requests without a verdict: gpc0 all, gpc1 those that passed.
backend unjudged
  stick-table type integer size 2 store gpc0,gpc1
${passTable()}
${halves.map((half) => guardsBackend(settings, guard, half)).join('\n')}`;
};

/** What the log and the page say of a refusal; `layer` and `status` are where the answer stands. */
const refusals = (ruleSet: string, layer: string, status: string): string => `\
  ${ruleSet} set-var(txn.refused) ${layer}
  ${ruleSet} set-var(txn.message) str("Blocked by access control list") if { ${layer} -m str acl }
  acl bad_request ${status} -m int eq 400
  acl too_large ${status} -m int eq 413
`;

const spoeAgent = (half: Half, processingMs: number): string => `\
[${half}]
spoe-agent ${half}
  groups request client whoever
  option var-prefix guard
  option set-on-error error
  option continue-on-error
  # Nobody reads these lines, and they would be written for each request.
  option dontlog-normal
  # So many questions may wait on one connection before the next one takes another (HAProxy 3.1 decides by itself).
  max-waiting-frames 8
  timeout hello 1s
  timeout idle 2m
  timeout processing ${processingMs}ms
  use-backend guards_${half}

spoe-message firewall
  args id=var(txn.reference) host=var(txn.route),field(5,|) src=src src_port=src_port dst=fc_dst dst_port=fc_dst_port version=req.ver method=method url=url headers=req.hdrs_bin has_list=var(txn.judge),and(${routeFlags.accessList}) policy=${requiredPolicy} body=req.body

spoe-message access
  args id=var(txn.reference) host=var(txn.route),field(5,|) src=src src_port=src_port dst=fc_dst dst_port=fc_dst_port version=req.ver method=method url=url headers=req.hdrs_bin has_list=var(txn.judge),and(${routeFlags.accessList}) policy=${requiredPolicy}

# Sets txn.guard.relay to the number of the guard that answers, if it has what such a request is judged by.
spoe-message presence
  args host=var(txn.route),field(5,|) has_list=var(txn.judge),and(${routeFlags.accessList}) policy=${requiredPolicy}

spoe-group whoever
  messages presence

spoe-group request
  messages firewall

spoe-group client
  messages access
`;

/**
 * The question to the guard (SPOE configuration): with the body for the firewall, without it for access lists alone. Half of what a
 * verdict may take is for the first guard, the rest for another when that one hangs.
 */
export const renderSpoe = ({ timeoutMs }: GuardSettings): string =>
  halves.map((half) => spoeAgent(half, Math.ceil(timeoutMs / 2))).join('\n');
