import { dirname, join } from 'node:path';
import { socketAddress } from './confinement.ts';
import { connectionReference } from './reference.ts';
import type { ConfigSettings } from './settings.ts';

/**
 * HAProxy closes a stream without an answer, without a line in the log, when an origin hangs up on a request that came on a
 * used connection: an invitation to repeat it (REFUSED_STREAM over HTTP/2), which only safe methods may accept. Before 3.0
 * "used" is the client's connection, and over HTTP/2 it always is; since then it is the origin's.
 */
const beforeHaproxy30 = '.if !version_atleast(3.0)';
/** The other branch: there, such requests take servers of their own (see origin-servers.ts). */
export const fromHaproxy30 = '.if version_atleast(3.0)';

const doors = ['plain', 'tls'] as const;

const socket = (settings: ConfigSettings, door: (typeof doors)[number]): string => {
  const { adminSocket, confinement } = settings;
  const directory = confinement === null ? dirname(adminSocket) : confinement.directory;
  return socketAddress(settings, join(directory, `once-${door}.sock`));
};

/** Bind lines of the frontend by which it hands requests to itself: nobody but HAProxy's own user can connect. */
export const onceListeners = (settings: ConfigSettings): string => {
  const owner = settings.confinement === null ? '' : ` user ${settings.confinement.user}`;
  return `\
${beforeHaproxy30}
${doors.map((door) => `  bind ${socket(settings, door)} mode 600${owner} accept-proxy name once-${door}\n`).join('')}\
.endif
`;
};

/** What is the same for all requests of a connection is found out, and written as headers have it, once. */
export const connections = (): string => `\
${connectionReference()}\
  tcp-request session set-var-fmt(sess.client) %[src]
  tcp-request session set-var(sess.proto) str(http)
  tcp-request session set-var(sess.proto) str(https) if { ssl_fc }
${beforeHaproxy30}
  tcp-request session set-var(sess.proto) str(https) if { so_name -m str once-tls }
.endif
  tcp-request session set-var(sess.tls) bool(true) if { var(sess.proto) -m str https }
  acl over_tls var(sess.tls) -m found
`;

/** Says which requests may be repeated, and hands the others over. These rules come before all others of the frontend. */
export const handOver = (): string => `\
  acl repeatable method GET HEAD OPTIONS
${beforeHaproxy30}
  # Requests that must not be repeated go through here as the first one of a connection: then a failure is answered.
  # A second one comes only where an origin signs connections in (NTLM), which has to be its own connection's all the time.
  acl from_once so_name -m beg once-
  http-request allow if !repeatable !{ http_first_req } !from_once
.endif
`;

const alone = `\
  # Over HTTP/2 nobody can sign a connection in; so that an origin that asks for it keeps none open, each ends at once.
`;

/** Who authenticates in ways that origins tie to a connection: by several steps (NTLM), or for all that follows (Kerberos). */
export const signsIn = '  acl signs_in req.hdr(authorization) -m beg -i nego ntlm\n';

/** Has a connection that may be signed in be of use to nobody else. `rules` delete the client's own `Connection`. */
export const ownConnection = (rules: string): string => `\
${signsIn}\
${beforeHaproxy30}
  http-request set-var(txn.alone) bool(true) if !repeatable from_once signs_in { req.hdr(connection) -m str close }
.endif
${rules}\
${alone}\
  http-request set-header Connection close if !http1 signs_in
${beforeHaproxy30}
  http-request set-header Connection close if !repeatable { var(txn.alone) -m found }
.else
  http-request set-header Connection close if !repeatable !http1
.endif

`;

/** The `use_backend` rule of what is handed over. */
export const handedOver = (): string => `\
${beforeHaproxy30}
  use_backend once if !repeatable !{ http_first_req } !from_once
.endif
`;

/** Where handed over requests go: to the frontend that they come from, on a connection of their own. */
export const onceSection = (settings: ConfigSettings): string => `
${beforeHaproxy30}
backend once
  # The second time through, it is logged.
  http-request set-log-level silent
${alone}\
  http-request set-header Connection close if !{ req.ver -m beg 1. }
  use-server tls if { ssl_fc }
  use-server plain if !{ ssl_fc }
${doors.map((door) => `  server ${door} ${socket(settings, door)} send-proxy-v2 pool-max-conn 0\n`).join('')}\
.endif
`;

/** Options of a server that is connected to for one request each. */
export const freshOnly = 'pool-max-conn 0 max-reuse 0';
