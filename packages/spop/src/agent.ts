import { createServer, type Socket } from 'node:net';
import { encodeDisconnect } from './disconnect.ts';
import { MIN_MAX_FRAME_SIZE } from './frame.ts';
import type { NotifyHandler, Observer } from './handler.ts';
import { type Limits, withDefaultLimits } from './limits.ts';
import { type Endpoint, listenOn } from './listener.ts';
import { createNameCache } from './name-cache.ts';
import { createSession, type Session } from './session.ts';
import { type Counters, createCounters } from './stats.ts';
import { Status } from './status.ts';

/** Where an agent listens, what answers, and what bounds it. */
export type SpopAgentOptions = Endpoint & {
  onNotify: NotifyHandler;
  /** Largest frame taken, in bytes without the length prefix; HAProxy's own (tune.bufsize - 4) wins when smaller. Default 65,532. */
  maxFrameSize?: number;
  limits?: Partial<Limits>;
  observer?: Observer;
};

/** A running agent, until it is stopped. */
export type SpopAgent = {
  /** Starts to accept; resolves when connections succeed, rejects when the endpoint can't be bound. */
  listen(): Promise<void>;
  /**
   * Takes no new connections, goes on answering, disconnects each connection with status 0 in a quiet moment (after half of
   * `timeoutMs`: as soon as nothing is in flight), and resolves when all are closed; what is still open after `timeoutMs`
   * (default 5,000) is cut off.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>;
  /** A snapshot of the counters. */
  readonly stats: Readonly<Counters>;
  /** The TCP port in use, for an endpoint with port 0; null on a unix socket or before `listen`. */
  readonly port: number | null;
};

const MAX_SWEEP_INTERVAL_MS = 1_000;
const MAX_LINGERING_REFUSALS = 64;
// Several times what HAProxy takes to read an answer and send the next NOTIFY.
const QUIET_MS = 20;

/** Makes an agent for HAProxy's SPOE (SPOP 2.0). Throws RangeError on a limit out of range. */
export const createSpopAgent = (options: SpopAgentOptions): SpopAgent => {
  const { onNotify, observer = {}, maxFrameSize = 65_532 } = options;
  const limits = withDefaultLimits(options.limits ?? {});
  if (!Number.isSafeInteger(maxFrameSize) || maxFrameSize < MIN_MAX_FRAME_SIZE) {
    throw new RangeError(`maxFrameSize must be a whole number from ${MIN_MAX_FRAME_SIZE}`);
  }
  const counters = createCounters();
  const names = createNameCache();
  const sessions = new Set<Session>();
  const sockets = new Set<Socket>();
  const refused = new Set<Socket>();
  // Coarse on purpose: one clock reading per sweep instead of one per frame.
  const clock = { now: performance.now() };
  let nextId = 1;

  const refuse = (socket: Socket) => {
    counters.connectionsRefused++;
    if (refused.size >= MAX_LINGERING_REFUSALS) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const cutOff = setTimeout(() => socket.destroy(), limits.lingerTimeoutMs);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      refused.delete(socket);
      clearTimeout(cutOff);
    });
    // Closing with bytes unread would reset the connection and take the reason with it.
    socket.resume();
    socket.end(encodeDisconnect({ status: Status.resourceAllocation, message: 'too many connections' }));
  };

  const accept = (socket: Socket) => {
    if (sockets.size >= limits.maxConnections) {
      refuse(socket);
      return;
    }
    counters.connections++;
    counters.connectionsTotal++;
    sockets.add(socket);
    socket.setNoDelay(true);
    const session = createSession({
      id: nextId++,
      maxFrameSize,
      limits,
      names,
      onNotify,
      observer,
      counters,
      clock,
      stopwatch: () => performance.now(),
      transport: {
        write: (bytes) => socket.write(bytes),
        end: (bytes) => void socket.end(bytes),
        destroy: () => void socket.destroy(),
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
      },
    });
    sessions.add(session);
    let failure: Error | undefined;
    socket.on('data', session.receive);
    socket.on('drain', session.drained);
    // A reset is how HAProxy from 3.1 on drops an idle connection; 'close' follows either way.
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => {
      sockets.delete(socket);
      sessions.delete(session);
      counters.connections--;
      session.closed(failure);
    });
  };

  const server = createServer(accept);
  const listener = listenOn(server, options);
  let sweeper: NodeJS.Timeout | undefined;

  const sweep = () => {
    clock.now = performance.now();
    for (const session of sessions) session.sweep(clock.now);
  };

  return {
    async listen() {
      await listener.listen();
      const { frameTimeoutMs, handlerTimeoutMs, idleTimeoutMs, lingerTimeoutMs } = limits;
      const shortest = Math.min(frameTimeoutMs, handlerTimeoutMs, idleTimeoutMs, lingerTimeoutMs);
      clock.now = performance.now();
      sweeper = setInterval(sweep, Math.max(1, Math.min(MAX_SWEEP_INTERVAL_MS, shortest / 2)));
      sweeper.unref();
    },
    async stop({ timeoutMs = 5_000 } = {}) {
      const startedAt = performance.now();
      const drain = () => {
        const elapsedMs = performance.now() - startedAt;
        for (const session of sessions) session.drain(elapsedMs >= timeoutMs / 2);
        if (elapsedMs >= timeoutMs) for (const socket of [...sockets, ...refused]) socket.destroy();
      };
      const drainer = setInterval(drain, QUIET_MS);
      drain();
      await listener.close();
      // The server reports its end before the last sockets have reported theirs.
      await Promise.all(
        [...sockets, ...refused].map((socket) => new Promise((resolve) => void socket.once('close', resolve))),
      );
      clearInterval(drainer);
      clearInterval(sweeper);
    },
    get stats() {
      return { ...counters };
    },
    get port() {
      const address = server.address();
      return address !== null && typeof address === 'object' ? address.port : null;
    },
  };
};
