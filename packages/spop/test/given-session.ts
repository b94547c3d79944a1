import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConnectionEnd, NotifyHandler } from '../src/handler.ts';
import { type Limits, withDefaultLimits } from '../src/limits.ts';
import { createNameCache } from '../src/name-cache.ts';
import { createSession } from '../src/session.ts';
import { createCounters } from '../src/stats.ts';
import { type AgentFrame, readAgentFrames } from './proxy-side.ts';

/** A session whose transport is memory, with a clock that the test moves. */
export const givenSession = (onNotify: NotifyHandler, limits: Partial<Limits> = {}, maxFrameSize = 65_532) => {
  const clock = { now: 0 };
  const exact = { now: 0 };
  const counters = createCounters();
  const writes: Buffer[] = [];
  const failures: unknown[] = [];
  const answering: number[] = [];
  const ends: ConnectionEnd[] = [];
  const transport = { isEnded: false, isDestroyed: false, isPaused: false, takesMore: true };
  const session = createSession({
    id: 1,
    maxFrameSize,
    limits: withDefaultLimits(limits),
    names: createNameCache(),
    onNotify,
    observer: {
      handlerFailed: (error) => failures.push(error),
      answering: () => answering.push(writes.length),
      connectionClosed: (_, end) => ends.push(end),
    },
    counters,
    clock,
    stopwatch: () => exact.now,
    transport: {
      write(bytes) {
        writes.push(bytes);
        return transport.takesMore;
      },
      end(bytes) {
        writes.push(bytes);
        transport.isEnded = true;
      },
      destroy() {
        transport.isDestroyed = true;
      },
      pause() {
        transport.isPaused = true;
      },
      resume() {
        transport.isPaused = false;
      },
    },
  });
  return {
    session,
    clock,
    exact,
    counters,
    writes,
    failures,
    /** How many writes there were whenever answers were about to be written. */
    answering,
    ends,
    transport,
    frames: (): AgentFrame[] => readAgentFrames(Buffer.concat(writes)).frames,
    /** Lets settled handlers be answered. */
    turn: async () => {
      await nextTurn();
      await nextTurn();
    },
  };
};
