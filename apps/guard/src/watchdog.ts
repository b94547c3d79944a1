/** How long a thread may be stuck in one request. The engine's own budget ends far earlier; this is for its bugs. */
const STUCK_AFTER_MS = { judge: 5_000, relay: 60_000 } as const;
const LOOK_EVERY_MS = 500;

export type Watched = { kind: keyof typeof STUCK_AFTER_MS; beats(): number };

/** Calls `onStuck` once when a thread's event loop has not turned for too long. */
export const watchThreads = (threads: () => readonly Watched[], onStuck: (kind: Watched['kind']) => void) => {
  const seen = new Map<Watched, { beats: number; at: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    const living = threads();
    for (const thread of seen.keys()) if (!living.includes(thread)) seen.delete(thread);
    for (const thread of living) {
      const beats = thread.beats();
      const last = seen.get(thread);
      if (!last || last.beats !== beats) seen.set(thread, { beats, at: now });
      // A thread that has not begun yet is loading its rules.
      else if (beats > 0 && now - last.at > STUCK_AFTER_MS[thread.kind]) {
        clearInterval(timer);
        onStuck(thread.kind);
        return;
      }
    }
  }, LOOK_EVERY_MS);
  return { stop: (): void => clearInterval(timer) };
};
