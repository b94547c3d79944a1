import { isAtLeast, type LogEntry, type LogLevel, type LogSource } from '@sallyport/contract';

export interface LogFilter {
  /** Least level; absent: every level. */
  level?: LogLevel | undefined;
  source?: LogSource | undefined;
}

const matches = (entry: LogEntry, { level, source }: LogFilter): boolean =>
  (level === undefined || isAtLeast(entry.level, level)) && (source === undefined || entry.source === source);

/** Fans log entries out to whoever listens, and remembers the last `capacity` of them; in memory only. */
export const createLogHub = (capacity: number) => {
  const ring: LogEntry[] = [];
  let oldest = 0;
  const listeners = new Set<(entry: LogEntry) => void>();
  return {
    publish(entry: LogEntry): void {
      if (ring.length < capacity) ring.push(entry);
      else {
        ring[oldest] = entry;
        oldest = (oldest + 1) % capacity;
      }
      for (const listener of listeners) listener(entry);
    },

    /** Calls `listener` with every matching entry from now on; returns how to stop that. A listener must not throw. */
    subscribe(filter: LogFilter, listener: (entry: LogEntry) => void): () => void {
      const filtered = (entry: LogEntry) => {
        if (matches(entry, filter)) listener(entry);
      };
      listeners.add(filtered);
      return () => listeners.delete(filtered);
    },

    /** The last `count` matching entries, oldest first. */
    recent(filter: LogFilter, count: number): LogEntry[] {
      if (count === 0) return [];
      const ordered = [...ring.slice(oldest), ...ring.slice(0, oldest)];
      return ordered.filter((entry) => matches(entry, filter)).slice(-count);
    },

    /** Connected readers. */
    readers: (): number => listeners.size,
  };
};
export type LogHub = ReturnType<typeof createLogHub>;
