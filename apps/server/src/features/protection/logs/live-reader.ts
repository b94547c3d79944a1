import type { LogEntry } from '@sallyport/contract';
import type { WebSocket } from 'ws';
import type { LogFilter, LogHub } from './hub.ts';

export interface LiveReaderOptions {
  /** Milliseconds between pings; a client that answers none until the next is gone (spec: 30 seconds). */
  pingMs: number;
  /** Bytes that may wait for a client. One that falls behind further is cut off: nobody waits for a reader. */
  maxBufferedBytes: number;
  /** Told when a slow reader is cut off. */
  onCutOff: () => void;
  /** What this reader may see of an entry. */
  show: (entry: LogEntry) => LogEntry;
}

/** Close code "try again later" (RFC 6455, IANA registry). */
const TRY_AGAIN_LATER = 1013;
/** How long a client that is cut off may take to close before its connection is dropped. */
const CLOSE_MS = 1_000;

/** Serves one WebSocket: earlier entries first, then every matching one, each as one JSON message. */
export const serveLiveReader = (
  socket: WebSocket,
  hub: LogHub,
  filter: LogFilter,
  backlog: number,
  { pingMs, maxBufferedBytes, onCutOff, show }: LiveReaderOptions,
): void => {
  let isAnswering = true;
  let isCutOff = false;

  const cutOff = () => {
    isCutOff = true;
    stop();
    onCutOff();
    socket.close(TRY_AGAIN_LATER, 'too slow');
    // The closing message waits behind what the client does not read.
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  };

  const send = (entry: LogEntry) => {
    if (isCutOff) return;
    if (socket.bufferedAmount > maxBufferedBytes) cutOff();
    else socket.send(JSON.stringify(show(entry)));
  };

  const ping = setInterval(() => {
    if (!isAnswering) return socket.terminate();
    isAnswering = false;
    socket.ping();
  }, pingMs);
  ping.unref();
  socket.on('pong', () => {
    isAnswering = true;
  });
  for (const entry of hub.recent(filter, backlog)) send(entry);
  const unsubscribe = hub.subscribe(filter, send);
  const stop = () => {
    clearInterval(ping);
    unsubscribe();
  };
  socket.on('close', stop);
  socket.on('error', stop);
};
