import { confinement, socketAddress } from './confinement.ts';
import { quote } from './quote.ts';
import type { ConfigSettings, LogTarget } from './settings.ts';

const logTarget = (log: LogTarget): string => (log.to === 'stdout' ? 'stdout' : quote(log.path));

/** `global`: process-wide limits, the runtime API, TLS policy. */
export const globalSection = (settings: ConfigSettings): string => `\
global
  # Relative paths below start from the directory of this file.
  default-path config
  log ${logTarget(settings.log)} len 8192 format raw local0 info
${settings.eventSocket === null ? '' : '  log ring@events len 8192 format raw local0 info\n'}\
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
  # Mozilla's "intermediate" policy: TLS 1.2 with forward secrecy, TLS 1.3.
  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets prefer-client-ciphers
  ssl-default-bind-ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
  ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256
  ssl-default-server-options ssl-min-ver TLSv1.2
`;

/** The log lines a second time, for whoever listens on a unix socket; HAProxy holds what fits in the ring while nobody does. */
export const eventRing = (settings: ConfigSettings): string =>
  settings.eventSocket === null
    ? ''
    : `
ring events
  format raw
  maxlen 8192
  size 1048576
  timeout connect 1s
  timeout server 10s
  server intake ${socketAddress(settings, settings.eventSocket)}

`;
