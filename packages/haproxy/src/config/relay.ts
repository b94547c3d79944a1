import { routeFlags } from '../routes/flags.ts';
import { socketAddress } from './confinement.ts';
import { ownAnswer } from './error-pages.ts';
import { freshOnly, signsIn } from './exactly-once.ts';
import { destination, originBackends, originOptions } from './forwarding.ts';
import { askWhoever, requiredPolicy, spoeFilters, turnAcls } from './guard.ts';
import { rememberRequest } from './log-format.ts';
import { headerNames } from './names.ts';
import { quote } from './quote.ts';
import { reference } from './reference.ts';
import { decisionsSince } from './refusals.ts';
import type { ConfigSettings } from './settings.ts';

/** Requests with long bodies: to the guard's relay, and from there back to their origin. */
export const relaySections = (settings: ConfigSettings): string => {
  const { guard } = settings;
  if (guard === null) return '';
  const relays = guard.relays
    .map((path, index) => `  server relay-${index} ${socketAddress(settings, path)}\n`)
    .join('');
  const chosen = guard.relays
    .map((_, index) => `  use-server relay-${index} if { var(txn.guard.relay) -m int ${index} }\n`)
    .join('');
  return `
# The guard reads a long body to its end, judges it, and hands the request back to the next section.
# What it has to know travels in headers; copies that the client sent are replaced here.
backend relay
${spoeFilters(guard)}\
  balance leastconn
  option redispatch 1
  option httpchk GET /health
  # Health is answered by a thread that judges nothing; a machine without a free processor may still take its time. Who
  # hangs loses its connections. How many may be open is up to the relays, which know what each is good for.
  timeout check 2s
  default-server check inter 500ms downinter 100ms rise 1 fall 3 on-marked-down shutdown-sessions ${freshOnly}
  acl gone nbsrv(relay) lt 1
  acl refused var(txn.refused) -m found
${rememberRequest()}\
  # Until there is an answer: a relay that hangs up is no fault of the site.
  http-request set-var(txn.refused) str(guard)
  http-request set-var(txn.message) str("This request could not be checked. Please try again.")
  http-request deny deny_status 503 if gone
  # Whoever answers is alive and takes it; one that hangs is known as down only after seconds.
  acl answered var(txn.guard.relay) -m found
${turnAcls(guard)}\
${askWhoever(guard)}\
  http-request deny deny_status 503 if !answered
  http-request set-header X-Sallyport-Route %[var(txn.route)]
  http-request set-header X-Sallyport-Reference %[${reference}]
  http-request set-header X-Sallyport-Client "%[src] %[src_port] %[fc_dst] %[fc_dst_port]"
  http-request set-header X-Sallyport-Judge "%[var(txn.judge),and(${routeFlags.accessList})] %[${requiredPolicy}]"
  http-request del-header X-Sallyport-Inspect
  http-request set-header X-Sallyport-Inspect response if { var(txn.flags),and(${routeFlags.inspectResponses}) -m bool }
  # A handshake has no body: what has one is judged, and goes on as a plain request.
  acl has_body req.hdr(content-length) -m found
  acl has_body req.hdr(transfer-encoding) -m found
  http-request del-header Upgrade if has_body
  http-request del-header Connection if has_body
${chosen}\
  http-response unset-var(txn.refused)
  http-response unset-var(txn.message)
  http-response deny deny_status 502 if { res.fhdr(x-sallyport-refused) -m str origin }
  http-response set-var(txn.refused) res.fhdr(x-sallyport-refused)
  http-response set-var(txn.message) str("Blocked by access control list") if refused { var(txn.refused) -m str acl }
  http-response set-var(txn.message) str("This request could not be checked. Please try again.") if refused { status 503 }
  http-response deny deny_status 400 if refused { status 400 }
  http-response deny deny_status 408 if refused { status 408 }
  http-response deny deny_status 413 if refused { status 413 }
  http-response deny deny_status 429 if refused { status 429 }
  http-response deny deny_status 503 if refused { status 503 }
  http-response return ${ownAnswer(507)} if refused { status 507 }
  http-response deny deny_status 403 if refused
${relays}
# Takes judged requests back. Nobody but this user's processes can connect, so the headers are believed.
frontend relayed
  bind ${quote(`unix@${guard.returnSocket}`)} mode 600
${headerNames()}  http-request set-var(txn.reference) req.fhdr(x-sallyport-reference)
  http-request set-var(txn.route) req.fhdr(x-sallyport-route)
  http-request set-var(txn.flags) var(txn.route),field(1,|)
  acl asks_for_json req.fhdr(accept) -m sub json
  acl asks_for_html req.fhdr(accept) -m sub text/html
  http-request set-var(txn.page) str(json) if asks_for_json !asks_for_html
  http-request deny deny_status 403 if !{ var(txn.flags) -m found }
  # A body may take hours to arrive: who was banned meanwhile is refused like anybody who comes now.
  http-request set-var(txn.host) req.fhdr(host),host_only
  http-request set-src req.fhdr(x-sallyport-client)
${decisionsSince()}\
  # The relay has a body and asks whether to send it.
  http-request wait-for-body time 10s at-least 1 if { req.hdr(expect) -m found }
  http-request del-header Expect
  http-request del-header X-Sallyport-Client
  http-request del-header X-Sallyport-Reference
  http-request del-header X-Sallyport-Route
  http-request disable-l7-retry if !{ method GET HEAD OPTIONS }
  # The relays bring requests of many clients on one connection: nobody may be signed in to an origin by another one's.
${signsIn}\
  http-request set-header Connection close if signs_in
  http-after-response set-header Connection close if { status 401 407 }
${destination()}\
${originOptions()}\
${originBackends()}\
  # Leaves the reference to our own pages.
  http-response del-header X-Sallyport-Reference
`;
};
