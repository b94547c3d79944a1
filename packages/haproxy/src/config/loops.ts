import { ownAnswer } from './error-pages.ts';
import { rememberRequest } from './log-format.ts';

const mark = (instance: string): string => `${instance}.%[var(txn.route),field(5,|)]`;

/**
 * Refuses what this deployment has already passed on for the same host: a host that forwards to its own listener would ask
 * itself until no connection is left. A deployment behind another one is fine, and so is a cache between two of its hosts.
 */
export const refuseLoops = (instance: string): string => `\
  # Each pass leaves a mark, deployment and host; who meets its own one again goes round in circles.
  acl passed_on req.hdr(x-sallyport-proxied) -m found
  http-request set-var-fmt(txn.mark) "${mark(instance)}" if passed_on
  acl marked var(txn.mark) -m found
  acl looped req.hdr(x-sallyport-proxied),strcmp(txn.mark) -m int 0
${rememberRequest(' if marked looped')}\
  http-request return ${ownAnswer(508)} if marked looped

`;

/** Leaves the mark. It is added, not set: of a chain of deployments each has to find its own. */
export const leaveMark = (instance: string): string => `\
  # The management API knows by this that a request came through the proxy.
  http-request add-header X-Sallyport-Proxied ${mark(instance)}

`;
