import { ownAnswer } from './error-pages.ts';
import { rememberRequest } from './log-format.ts';

/** Told with the record's flags, of which none is as high: the request came with a mark. */
export const carriesMarks = 1 << 30;

/** What a pass leaves. The host's id is the last field of its record. */
export const mark = (instance: string): string => `${instance}.%[var(txn.route),field(-1,|)]`;

/**
 * Refuses what this deployment has already passed on for the same host: a host that forwards to its own listener would ask
 * itself until no connection is left. A deployment behind another one is fine, and so is a cache between two of its hosts.
 */
export const refuseLoops = (instance: string): string => `\
  # Each pass leaves a mark, deployment and host; who meets its own one again goes round in circles.
  http-request set-var-fmt(txn.mark) "${mark(instance)}" if carries_marks
  acl marked var(txn.mark) -m found
  acl looped req.hdr(x-sallyport-proxied),strcmp(txn.mark) -m int 0
${rememberRequest(' if marked looped')}\
  http-request return ${ownAnswer(508)} if marked looped
  http-request add-header X-Sallyport-Proxied ${mark(instance)} if carries_marks

`;

/**
 * Leaves the mark on what has none yet; what has one gets another when it was looked at. It is added, not set: of a chain of
 * deployments each has to find its own.
 */
export const leaveMark = (instance: string): string => `\
  # The management API knows by this that a request came through the proxy.
  acl passed_on req.hdr(x-sallyport-proxied) -m found
  http-request set-var(txn.flags) var(txn.flags),or(${carriesMarks}) if passed_on
  acl carries_marks var(txn.flags),and(${carriesMarks}) -m bool
  http-request add-header X-Sallyport-Proxied ${mark(instance)} if !carries_marks

`;
