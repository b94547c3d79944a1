import { createAckBatch } from './ack-batch.ts';
import type { ByteReader } from './byte-reader.ts';
import { type Disconnect, encodeDisconnect, readDisconnect } from './disconnect.ts';
import { createReassembly } from './fragments.ts';
import { FLAG_FIN, type Frame, FrameType, readFrame } from './frame.ts';
import { createFrameSplitter } from './frame-splitter.ts';
import type { Actions, Connection, ConnectionEnd, NotifyContext, NotifyHandler, Observer } from './handler.ts';
import { encodeAgentHello, readHello } from './hello.ts';
import type { Limits } from './limits.ts';
import { readMessages } from './messages.ts';
import type { NameCache } from './name-cache.ts';
import type { Counters } from './stats.ts';
import { ProtocolError, Status } from './status.ts';

/** What a session needs of its socket; `write` is false when the peer does not read fast enough. */
export type Transport = {
  write(bytes: Buffer): boolean;
  end(bytes: Buffer): void;
  destroy(): void;
  pause(): void;
  resume(): void;
};

/** One connection's protocol, without its socket. No method throws, whatever the bytes. */
export type Session = {
  readonly connection: Connection;
  receive(chunk: Buffer): void;
  /** The transport takes more again. */
  drained(): void;
  /** The transport is gone. */
  closed(error?: Error): void;
  /**
   * Disconnects if nothing is in flight and nothing has come since the last call: a NOTIFY on its way would be lost with
   * the connection. With `isUrgent`, at the first moment with nothing in flight.
   */
  drain(isUrgent: boolean): void;
  /** Says why, then ends. */
  disconnect(reason: Disconnect): void;
  /** Enforces the time limits; `now` in milliseconds of the same clock as `clock.now`. */
  sweep(now: number): void;
};

export type SessionDeps = {
  id: number;
  maxFrameSize: number;
  limits: Limits;
  names: NameCache;
  onNotify: NotifyHandler;
  observer: Observer;
  counters: Counters;
  transport: Transport;
  /** Milliseconds, refreshed by the sweeps only: for the time limits. */
  clock: { readonly now: number };
  /** Milliseconds, exact: for the latency of answers. */
  stopwatch: () => number;
};

type Pending = NotifyContext & { readonly since: number };

const NO_ACTIONS: Actions = [];

// Answers wait for the end of the chunk, so that many cost one system call; but not behind long judgements of others.
const FLUSH_AFTER_MS = 1;

const isPromise = (result: Actions | Promise<Actions>): result is Promise<Actions> =>
  typeof (result as { then?: unknown } | undefined)?.then === 'function';

/** Makes the agent's side of one SPOP connection. */
export const createSession = (deps: SessionDeps): Session => {
  const { limits, names, onNotify, observer, counters, transport, clock, stopwatch } = deps;
  let state: 'hello' | 'open' | 'closing' | 'closed' = 'hello';
  let maxFrameSize = deps.maxFrameSize;
  let engineId: string | null = null;
  let isHealthCheck = false;
  let isUrgentDrain = false;
  let framesAtDrain = -1;
  let isWriteBlocked = false;
  let isPaused = false;
  let isFlushScheduled = false;
  let isReceiving = false;
  let lastFrameAt = clock.now;
  let holdingSince: number | null = null;
  let blockedSince = 0;
  let batchStartedAt = 0;
  let frames = 0;
  const outstanding = new Set<Pending>();
  const acks = createAckBatch();
  const reassembly = createReassembly(limits.maxFragmentedSize);

  const connection: Connection = {
    id: deps.id,
    get engineId() {
      return engineId;
    },
    get maxFrameSize() {
      return maxFrameSize;
    },
    get isHealthCheck() {
      return isHealthCheck;
    },
    get isClosed() {
      return state === 'closing' || state === 'closed';
    },
  };

  const isHalted = () =>
    connection.isClosed || isWriteBlocked || outstanding.size >= limits.maxOutstandingPerConnection;

  const splitter = createFrameSplitter({
    maxLength: () => maxFrameSize,
    isHalted,
    onFrame: (bytes, start, end) => {
      frames++;
      lastFrameAt = clock.now;
      handleFrame(readFrame(bytes, start, end));
      if (!acks.isEmpty && stopwatch() - batchStartedAt > FLUSH_AFTER_MS) flush();
    },
  });

  const updatePause = () => {
    const shouldPause = !connection.isClosed && isHalted();
    if (shouldPause === isPaused) return;
    isPaused = shouldPause;
    if (shouldPause) transport.pause();
    else transport.resume();
  };

  const flush = () => {
    if (acks.isEmpty || connection.isClosed) return;
    batchStartedAt = stopwatch();
    observer.answering?.();
    const bytes = acks.take();
    if (!transport.write(bytes) && !isWriteBlocked) {
      isWriteBlocked = true;
      blockedSince = clock.now;
    }
  };

  const finish = (end: ConnectionEnd, nextState: 'closing' | 'closed') => {
    const wasOver = connection.isClosed;
    state = nextState;
    if (wasOver) return;
    lastFrameAt = clock.now;
    counters.outstanding -= outstanding.size;
    outstanding.clear();
    updatePause();
    if (!isHealthCheck) observer.connectionClosed?.(connection, end);
  };

  const endWith = (reason: Disconnect, by: 'agent' | 'haproxy') => {
    if (connection.isClosed) return;
    flush();
    transport.end(encodeDisconnect(by === 'agent' ? reason : { status: Status.normal, message: 'normal' }));
    finish({ ...reason, by }, 'closing');
  };

  const disconnect = (reason: Disconnect) => endWith(reason, 'agent');

  const failHandler = (error: unknown, context: NotifyContext) => {
    counters.handlerErrors++;
    observer.handlerFailed?.(error, context);
  };

  const answer = (context: NotifyContext, actions: Actions) => {
    counters.acks++;
    const failure = acks.add(context.streamId, context.frameId, actions, maxFrameSize);
    if (failure !== undefined) failHandler(failure, context);
  };

  const disconnectIfDrained = () => {
    if (!connection.isClosed && outstanding.size === 0 && !splitter.isHolding && !reassembly.isOpen) {
      disconnect({ status: Status.normal, message: 'agent is stopping' });
    }
  };

  /** Runs what reads frames; nothing that a peer sends may throw past here. */
  const receiving = (read: () => void) => {
    if (isReceiving) return;
    isReceiving = true;
    batchStartedAt = stopwatch();
    const framesBefore = frames;
    try {
      read();
    } catch (error) {
      const isProtocol = error instanceof ProtocolError;
      counters.protocolErrors++;
      disconnect({
        status: isProtocol ? error.status : Status.unknown,
        message: isProtocol ? error.message : 'internal error',
      });
      if (!isProtocol) observer.handlerFailed?.(error, { connection, streamId: 0, frameId: 0 });
    } finally {
      isReceiving = false;
    }
    flush();
    const isProgress = frames !== framesBefore && !reassembly.isOpen;
    if (isHalted() || !(splitter.isHolding || reassembly.isOpen)) holdingSince = null;
    else if (holdingSince === null || isProgress) holdingSince = clock.now;
    updatePause();
    if (isUrgentDrain) disconnectIfDrained();
  };

  const afterAsyncAnswer = () => {
    if (!isFlushScheduled) {
      isFlushScheduled = true;
      // All handlers that settle in this turn of the event loop share one write.
      setImmediate(() => {
        isFlushScheduled = false;
        receiving(splitter.resume);
      });
    }
  };

  const settle = (pending: Pending, actions: Actions) => {
    if (!outstanding.delete(pending)) return false;
    counters.outstanding--;
    answer(pending, actions);
    afterAsyncAnswer();
    return true;
  };

  const failPending = (pending: Pending, error: unknown) => {
    if (settle(pending, NO_ACTIONS)) failHandler(error, pending);
  };

  const judge = (streamId: number, frameId: number, payload: ByteReader) => {
    counters.notifies++;
    const messages = readMessages(payload, names, limits);
    const context: Pending = { connection, streamId, frameId, since: clock.now };
    if (counters.outstanding >= limits.maxOutstanding) {
      counters.shed++;
      answer(context, NO_ACTIONS);
      return;
    }
    let result: Actions | Promise<Actions>;
    try {
      result = onNotify(messages, context);
    } catch (error) {
      failHandler(error, context);
      result = NO_ACTIONS;
    }
    if (!isPromise(result)) {
      answer(context, result);
      return;
    }
    outstanding.add(context);
    counters.outstanding++;
    result.then(
      (actions) => settle(context, actions),
      (error: unknown) => failPending(context, error),
    );
  };

  const handleNotify = (frame: Frame, isContinuation: boolean) => {
    const { streamId, frameId } = frame;
    const payload = reassembly.take(frame, isContinuation);
    if (payload === 'wait' || payload === 'drop') return;
    if (payload === 'refuse') {
      counters.shed++;
      acks.abort(streamId, frameId);
    } else judge(streamId, frameId, payload);
  };

  const handleHello = (frame: Frame) => {
    const hello = readHello(frame);
    maxFrameSize = Math.min(maxFrameSize, hello.maxFrameSize);
    engineId = hello.engineId;
    isHealthCheck = hello.isHealthCheck;
    const capabilities = limits.maxFragmentedSize > 0 ? ['pipelining', 'fragmentation'] : ['pipelining'];
    const bytes = encodeAgentHello(maxFrameSize, capabilities);
    if (isHealthCheck) {
      counters.healthChecks++;
      transport.end(bytes);
      finish({ status: Status.normal, message: 'health check', by: 'agent' }, 'closing');
      return;
    }
    state = 'open';
    transport.write(bytes);
    observer.connectionOpened?.(connection);
  };

  const handleFrame = (frame: Frame) => {
    const isPlain = (frame.flags & FLAG_FIN) !== 0;
    const isNotify = frame.type === FrameType.notify || frame.type === FrameType.unset;
    if (!isPlain && !isNotify) {
      throw new ProtocolError(Status.fragmentationNotSupported, 'only a NOTIFY may be fragmented');
    }
    if (frame.type === FrameType.haproxyDisconnect) {
      endWith(readDisconnect(frame), 'haproxy');
    } else if (state === 'hello') {
      if (frame.type !== FrameType.haproxyHello) throw new ProtocolError(Status.invalidFrame, 'expected a hello');
      handleHello(frame);
    } else if (isNotify) handleNotify(frame, frame.type === FrameType.unset);
    else throw new ProtocolError(Status.invalidFrame, 'frame of an unexpected type');
  };

  return {
    connection,
    receive(chunk) {
      if (!connection.isClosed) receiving(() => splitter.push(chunk));
    },
    drained() {
      isWriteBlocked = false;
      receiving(splitter.resume);
    },
    closed(error) {
      finish({ status: Status.ioError, message: error?.message ?? 'closed by the peer', by: 'network' }, 'closed');
    },
    drain(isUrgent) {
      isUrgentDrain = isUrgent;
      if (isUrgent || frames === framesAtDrain) disconnectIfDrained();
      framesAtDrain = frames;
    },
    disconnect,
    sweep(now) {
      if (state === 'closed') return;
      const isLate = (since: number, timeoutMs: number) => now - since >= timeoutMs;
      if (state === 'closing') {
        if (isLate(lastFrameAt, limits.lingerTimeoutMs)) transport.destroy();
        return;
      }
      for (const pending of outstanding) {
        if (isLate(pending.since, limits.handlerTimeoutMs)) failPending(pending, new Error('handler took too long'));
      }
      const timedOut = (message: string) => disconnect({ status: Status.timeout, message });
      if (state === 'hello' && isLate(lastFrameAt, limits.frameTimeoutMs)) timedOut('no hello in time');
      else if (isWriteBlocked && isLate(blockedSince, limits.frameTimeoutMs)) timedOut('answers are not read');
      else if (holdingSince !== null && isLate(holdingSince, limits.frameTimeoutMs)) {
        timedOut('frame did not arrive whole');
      } else if (outstanding.size === 0 && isLate(lastFrameAt, limits.idleTimeoutMs)) {
        disconnect({ status: Status.normal, message: 'idle' });
      }
    },
  };
};
