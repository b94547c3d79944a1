import { disabledRecord, removedRecord } from '../routes/route-record.ts';
import { dataPlaneFiles } from './layout.ts';

const { hostsMap, overlayMap } = dataPlaneFiles;

/** A condition: nobody has the name. The length goes first, which hardly any other record has, because it costs less than to compare them. */
const isRemoved = `{ var(txn.route) -m len ${removedRecord.length} } { var(txn.route) -m str ${removedRecord} }`;

const findName = (also = ''): string => `\
  http-request set-var(txn.route) req.fhdr(host),host_only,set-var(txn.host),map_str(${hostsMap},${removedRecord})${also}
  http-request set-var(txn.route) var(txn.host),map_str(${overlayMap})${also}
`;

/** `condition` with a space after it. */
const findWildcard = (condition = ''): string => {
  const also = condition === '' ? '' : ` if ${condition.trimEnd()}`;
  return `\
  # A wildcard: the base's record, unless the overlay has one. \`field\` brings back the name that was asked for, so that names without need no rule.
  http-request set-var(txn.route) var(txn.host),regsub(^[^.]*,*),set-var(txn.wildcard),map_str(${hostsMap},${removedRecord}),set-var(txn.route),concat(;,txn.wildcard),field(-1,;),map_str(${overlayMap}) if ${condition}${isRemoved}
  http-request set-var(txn.flags) var(txn.route),field(1,|),add(0)${also}

`;
};

/** Finds the route record of the request's name: the small overlay (recent changes) wins over the big base map. */
export const routing = (): string => `\
  # Which host is asked for. A record reads flags|address|port|server name|host id; "${disabledRecord}" is switched off, "${removedRecord}" was removed.
${findName()}
`;

/** For a name that has none, that of the name with its first label replaced by `*`, of the two maps likewise; and, for all, its flags. */
export const routingOfOthers = (): string => findWildcard();

/** Both for a name that was brought into the form that is routed by. */
export const routingAgain = (): string => findName(' if odd_name') + findWildcard('odd_name ');

/**
 * Answers for names that nobody has, and for hosts that are switched off. A process that was replaced knows no host: its connections end, and
 * what their clients ask again reaches the one that knows.
 */
export const refuseUnknown = (): string => `\
  http-request reject if { var(txn.route,${removedRecord}) -m str ${removedRecord} ${disabledRecord} } { stopping }
  http-request deny deny_status 404 if { var(txn.route,${removedRecord}) -m str ${removedRecord} ${disabledRecord} }

`;
