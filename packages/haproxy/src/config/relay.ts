import { routeFlags } from '../routes/flags.ts';
import { socketAddress } from './confinement.ts';
import { destination } from './forwarding.ts';
import { rememberRequest } from './log-format.ts';
import { quote } from './quote.ts';
import type { ConfigSettings } from './settings.ts';

/** Requests with long bodies: to the guard's relay, and from there back to their origin. */
export const relaySections = (settings: ConfigSettings): string => {
  const { guard } = settings;
  if (guard === null) return '';
  const relays = guard.relays
    .map((path, index) => `  server relay-${index} ${socketAddress(settings, path)}\n`)
    .join('');
  return `
# The guard reads a long body to its end, judges it, and hands the request back to the next section.
# What it has to know travels in headers; copies that the client sent are replaced here.
backend relay
  option redispatch 1
  option httpchk GET /health
  # It may be busy for seconds with a body of megabytes. One that hangs loses its connections.
  timeout check 3s
  default-server check inter 500ms downinter 100ms rise 1 fall 3 maxconn 256 on-marked-down shutdown-sessions
  acl gone nbsrv(relay) lt 1
${rememberRequest()}\
  http-request set-var(txn.refused) str(guard) if gone
  http-request set-var(txn.message) str("This request could not be checked. Please try again.") if gone
  http-request deny deny_status 503 if gone
  http-request set-header X-Sallyport-Route %[var(txn.route)]
  http-request set-header X-Sallyport-Reference %[unique-id]
  http-request set-header X-Sallyport-Client "%[src] %[src_port] %[fc_dst] %[fc_dst_port]"
  http-request del-header X-Sallyport-Inspect
  http-request set-header X-Sallyport-Inspect response if { var(txn.flags),and(${routeFlags.inspectResponses}) -m bool }
  http-response set-var(txn.refused) res.hdr(x-sallyport-refused)
  acl refused var(txn.refused) -m found
  http-response set-var(txn.message) str("Blocked by access control list") if refused { var(txn.refused) -m str acl }
  http-response set-var(txn.message) str("This request could not be checked. Please try again.") if refused { var(txn.refused) -m str guard }
  http-response deny deny_status 400 if refused { status 400 }
  http-response deny deny_status 413 if refused { status 413 }
  http-response deny deny_status 503 if refused { status 503 }
  http-response deny deny_status 403 if refused
${relays}
# Takes judged requests back. Nobody but this user's processes can connect, so the headers are believed.
frontend relayed
  bind ${quote(`unix@${guard.returnSocket}`)} mode 600
  unique-id-format %[var(txn.reference)]
  http-request set-var(txn.reference) req.hdr(x-sallyport-reference)
  http-request set-var(txn.route) req.hdr(x-sallyport-route)
  http-request set-var(txn.flags) var(txn.route),field(1,|)
  acl asks_for_json req.fhdr(accept) -m sub json
  acl asks_for_html req.fhdr(accept) -m sub text/html
  http-request set-var(txn.page) str(json) if asks_for_json !asks_for_html
  http-request deny deny_status 403 if !{ var(txn.flags) -m found }
  http-request del-header X-Sallyport-Reference
  http-request del-header X-Sallyport-Route
  http-request disable-l7-retry if !{ method GET HEAD OPTIONS }
${destination({ ...settings, guard: null })}\
  # Leaves the reference to our own pages.
  http-response del-header X-Sallyport-Reference
`;
};
