/** A limit is over at the last of so many looks. */
const LOOKS = 8;

/** Watches over somebody else's silence until it is stopped. */
export interface SilenceWatch {
  /** They have said something: their silence begins anew. */
  heard(): void;
  stop(): void;
}

/**
 * Calls `onSilence`, once, when `heard` was not called for `ms` in which this process ran; keeps no process alive. Looks are counted, not
 * the clock: while our own loop stands still (a machine that is overloaded, or slept) nobody else is silent, and what they said
 * lies unread. Node runs timers before it reads, so the last look lets it read first.
 */
export const watchSilence = (ms: number, onSilence: () => void): SilenceWatch => {
  let looks = 0;
  let isOver = false;
  const stop = (): void => {
    isOver = true;
    clearInterval(timer);
  };
  const judge = (): void => {
    if (isOver || looks < LOOKS) return;
    stop();
    onSilence();
  };
  const timer = setInterval(() => {
    looks += 1;
    if (looks >= LOOKS) setImmediate(judge);
  }, ms / LOOKS);
  timer.unref();
  return {
    heard() {
      looks = 0;
      if (!isOver) timer.refresh();
    },
    stop,
  };
};

/** Like `AbortSignal.timeout`, in time in which this process ran: for answers that others have to give. */
export const answerDeadline = (ms: number): AbortSignal => {
  const deadline = new AbortController();
  watchSilence(ms, () => deadline.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
  return deadline.signal;
};
