import { useSyncExternalStore } from 'react';

const EVERY_MS = 10_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};

const now = (): number => Math.floor(Date.now() / EVERY_MS) * EVERY_MS;

/** Now, in milliseconds since 1970 and to ten seconds; whoever uses it is drawn anew as time passes. One clock serves all. */
export const useNow = (): number => useSyncExternalStore(subscribe, now);
