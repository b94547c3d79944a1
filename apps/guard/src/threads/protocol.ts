import type { GuardConfig } from '@sallyport/contract';

/** What a thread is started with. */
export interface ThreadData {
  config: GuardConfig | undefined;
  dataDir: string;
  index: number;
  /** Counters of the process; this thread's own are in its slot. */
  shared: SharedArrayBuffer;
  slot: number;
  /** One number that the thread changes all the time while it is not stuck. */
  heartbeat: SharedArrayBuffer;
}

/** To a thread. */
export type ToThread = { type: 'config'; config: GuardConfig } | { type: 'stop' };

/** From a thread: `line` is JSON for the server. */
export type FromThread =
  | { type: 'listening' }
  | { type: 'serving'; revision: number }
  | { type: 'refused'; revision: number; diagnostics: string[] }
  | { type: 'line'; line: string };
