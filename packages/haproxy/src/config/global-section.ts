import { dirname, join } from 'node:path';
import { confinement, socketAddress } from './confinement.ts';
import { dataPlaneFiles } from './layout.ts';
import { rememberRequest } from './log-format.ts';
import { quote } from './quote.ts';
import type { ConfigSettings, LogTarget } from './settings.ts';

const logTarget = (log: LogTarget): string => (log.to === 'stdout' ? 'stdout' : quote(log.path));

/** Bytes of a request body that an HTTP/2 client may have under way: enough for 160 Mbit/s over 50 ms. */
const UPLOAD_WINDOW_BYTES = 1_048_576;

/**
 * HTTP/2's own 64 kB make an upload wait for a round trip each. What is under way stands in the kernel's buffer of the connection, which
 * the window doesn't enlarge: HAProxy itself holds one buffer for a stream. From 3.1 on, it has buffers and windows that grow by themselves.
 */
const uploadWindow = `\
.if !version_atleast(3.1)
.if version_atleast(2.8)
  tune.h2.fe.initial-window-size ${UPLOAD_WINDOW_BYTES}
.else
  tune.h2.initial-window-size ${UPLOAD_WINDOW_BYTES}
.endif
.endif
`;

/** What went as it should is an `info`, for whoever wants a line for every request; the rest is worth more (defaults-section.ts). */
const WORTH_TELLING = 'notice';

/** `global`: process-wide limits, the runtime API, TLS policy. */
export const globalSection = (settings: ConfigSettings): string => `\
global
  # Relative paths below start from the directory of this file.
  default-path config
  log ${logTarget(settings.log)} len ${LINE_BYTES} format raw local0 ${WORTH_TELLING}
${settings.eventSocket === null ? '' : `  log ring@events len ${LINE_BYTES} format raw local0 ${WORTH_TELLING}\n`}\
${confinement(settings)}\
  # The runtime API. expose-fd hands the listening sockets to the next process on a reload, so that none is refused.
  stats socket ${quote(settings.adminSocket)} mode 600 level admin expose-fd listeners
  # The driver keeps one idle connection, to see at once when this process ends.
  stats timeout 20d
${settings.rateLimit === null ? '' : '  # Whose counters a new process takes over on a reload: see the peers section.\n  localpeer sallyport\n'}\
${settings.threads === null ? '' : `  nbthread ${settings.threads}\n`}\
${settings.maxConnections === null ? '' : `  maxconn ${settings.maxConnections}\n`}\
  # Old connections (WebSockets) may outlive a reload by this much.
  hard-stop-after 1h
  # Bounds a request's headers, and one payload of the runtime API.
  tune.bufsize ${settings.bufferBytes}
${uploadWindow}\
  # Mozilla's "intermediate" policy: TLS 1.2 with forward secrecy, TLS 1.3.
  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets prefer-client-ciphers
  ssl-default-bind-ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
  ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256
  ssl-default-server-options ssl-min-ver TLSv1.2
`;

/** Longest line of the log, in bytes; what clients chose is cut far shorter (log-format.ts). */
const LINE_BYTES = 12_288;

/** Next to the runtime API's socket, or in the directory that a confined worker still sees. */
const gateSocket = ({ adminSocket, confinement: confined }: ConfigSettings, gate: string): string =>
  join(confined?.directory ?? dirname(adminSocket), `${gate}.sock`);

const gateMode = ({ confinement: confined }: ConfigSettings): string =>
  confined === null ? 'mode 600' : `mode 660 group ${confined.group}`;

/**
 * Log lines for whoever listens on a unix socket; HAProxy holds what fits in the ring while nobody does,
 * and tells how much did not. Until 3.0 a ring whose connection is refused tries again at once, thousands of times a second, and
 * only waits when it ends during a handshake. There it goes through a gate of this process, which ends it before the handshake as
 * long as nobody listens.
 */
const ring = (settings: ConfigSettings, name: string, gate: string, socket: string): string => `
ring ${name}
  format raw
  maxlen ${LINE_BYTES}
  size 1048576
  timeout connect 1s
  timeout server 10s
.if version_atleast(3.0)
  server intake ${socketAddress(settings, socket)}
.else
  server ${gate} ${socketAddress(settings, gateSocket(settings, gate))} ssl verify none

# Stands before the defaults, because nothing of it is HTTP or to be logged.
listen ${gate}
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  bind ${quote(`unix@${gateSocket(settings, gate)}`)} ${gateMode(settings)} ssl crt ${dataPlaneFiles.defaultCertificate}
  tcp-request connection reject if { nbsrv(${gate}) lt 1 }
  # Its first failure counts, so that few lines meet a gate that nobody stands behind.
  server intake ${socketAddress(settings, socket)} check inter 1s downinter 500ms rise 1 fall 1 observe layer4 error-limit 1 on-error mark-down
.endif

`;

/** The log lines a second time, and those of all requests where they are wanted. */
export const rings = (settings: ConfigSettings): string =>
  [
    settings.eventSocket === null ? '' : ring(settings, 'events', 'gate', settings.eventSocket),
    settings.trafficSocket === null ? '' : ring(settings, 'traffic', 'traffic_gate', settings.trafficSocket),
  ].join('');

/** Has the frontend tell of every request, and what it was, to who listens for that; nobody else is told more. */
export const traffic = (settings: ConfigSettings): string =>
  settings.trafficSocket === null
    ? ''
    : `\
  # Every request is told, to this ring alone.
  no option dontlog-normal
  log ring@traffic len ${LINE_BYTES} format raw local0 info
${rememberRequest()}
`;
