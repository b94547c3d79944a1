const LOOK_EVERY_MS = 500;

/** A thread whose event loop should turn. */
export interface Watched {
  /** How long it may be stuck in one request. The engine's own budget ends far earlier; this is for its bugs. */
  stuckAfterMs: number;
  beats(): number;
  /** Called once, when it has been stuck for longer. */
  onStuck(): void;
}

/** Watches threads, named by the same objects each time. Looks are counted, not the clock: a process or machine that was suspended hangs nowhere. */
export const watchThreads = (threads: () => readonly Watched[]): { stop(): void } => {
  const seen = new Map<Watched, { beats: number; looks: number; isStuck: boolean }>();
  const timer = setInterval(() => {
    const living = threads();
    for (const thread of seen.keys()) if (!living.includes(thread)) seen.delete(thread);
    for (const thread of living) {
      const beats = thread.beats();
      const last = seen.get(thread);
      if (!last || last.beats !== beats) seen.set(thread, { beats, looks: 0, isStuck: false });
      // A thread that has not begun yet is loading its rules.
      else if (beats > 0 && !last.isStuck && ++last.looks * LOOK_EVERY_MS > thread.stuckAfterMs) {
        last.isStuck = true;
        thread.onStuck();
      }
    }
  }, LOOK_EVERY_MS);
  return { stop: () => clearInterval(timer) };
};
