import { disabledRecord, removedRecord } from '../routes/route-record.ts';
import { dataPlaneFiles } from './layout.ts';

const { hostsMap, overlayMap } = dataPlaneFiles;

/**
 * Finds the route record of the request's name: exact name first, then the name with its first label replaced by `*`;
 * in each case the small overlay (recent changes) wins over the big base map.
 */
export const routing = (): string => `\
  # Which host is asked for. A record reads flags|address|port|server name|host id; "${disabledRecord}" is switched off, "${removedRecord}" was removed.
  http-request set-var(txn.host) req.fhdr(host),host_only
  http-request set-var(txn.route) var(txn.host),map_str(${hostsMap},${removedRecord})
  http-request set-var(txn.route) var(txn.host),map_str(${overlayMap})
  http-request set-var(txn.wildcard) var(txn.host),regsub(^[^.]*,*) if { var(txn.route) -m str ${removedRecord} }
  # Without a wildcard's name these two leave the route as it is; a condition would cost more than they do.
  http-request set-var(txn.route) var(txn.wildcard),map_str(${hostsMap},${removedRecord})
  http-request set-var(txn.route) var(txn.wildcard),map_str(${overlayMap})
  http-request set-var(txn.flags) var(txn.route),field(1,|),add(0)

`;

/** Answers for names that nobody has, and for hosts that are switched off. */
export const refuseUnknown = (): string => `\
  http-request deny deny_status 404 if { var(txn.route,${removedRecord}) -m str ${removedRecord} ${disabledRecord} }

`;
