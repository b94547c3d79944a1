import { errorReplies } from './error-pages.ts';
import { logFormat } from './log-format.ts';

/** `defaults`: time limits, retries and the answers HAProxy itself gives. */
export const defaultsSection = (): string => `\
defaults
  mode http
  log global
  # Only refusals, errors and 5xx answers are logged; a line for each request would cost a tenth of its CPU.
  option dontlog-normal
  option dontlognull
  # Where others are told of as well, these stand out by their level.
  option log-separate-errors
  log-format ${logFormat}

  # The whole header block must arrive in this time, however slowly it trickles.
  timeout http-request 15s
  timeout http-keep-alive 75s
  timeout connect 5s
  # Silence from the client in the middle of a body, or from an origin before and during its answer.
  timeout client 60s
  timeout server 300s
  # An upgraded connection (WebSocket) may be silent for this long.
  timeout tunnel 1h
  timeout client-fin 30s

  # A connection that cannot be made is tried once more. Requests are never sent twice: keeping them for that would
  # copy a whole buffer each time. Instead idle connections are closed before common origins do (Node.js: 5 s).
  retries 1
  default-server pool-purge-delay 3s
  # Send what there is at once: an event of a stream or a gRPC message must not wait 200 ms for the kernel to fill a packet.
  option http-no-delay
  # A client that went away gives back its place, and its origin's, at once, not when the origin answers. One that only
  # closes its own direction counts as gone, as everywhere; HTTP has no use for that.
  option abortonclose
  # Never share one client's connection before it proved itself; the destination and server name are part of the key.
  http-reuse safe

${errorReplies()}`;
