import type { GuardConfig } from '@sallyport/contract';
import type { FlatHeaders } from '../headers.ts';
import type { Judgement } from '../judge/judge.ts';

/** What a thread is started with. */
export interface ThreadData {
  config: GuardConfig;
  dataDir: string;
  index: number;
  /** Counters of the process; this thread's own are in its slot. */
  shared: SharedArrayBuffer;
  slot: number;
  /** One number that the thread changes all the time while it is not stuck. */
  heartbeat: SharedArrayBuffer;
}

/** A request of the relay as it crosses to a thread. */
export interface RelayedRequest {
  reference: string;
  hostId: number;
  /** Address and port of the client, then of the listener. */
  addresses: readonly string[];
  method: string;
  uri: string;
  headers: FlatHeaders;
}

/** A body as it crosses: what a file of this process holds, then what is in memory. The file stays open until the answer. */
export interface CrossingBody {
  bytes: number;
  file: { descriptor: number; bytes: number } | undefined;
  blocks: readonly Uint8Array[];
}

/** An answer of an origin as it crosses; `body` is null when none is inspected. */
export interface CrossingResponse {
  status: number;
  httpVersion: string;
  headers: FlatHeaders;
  body: Uint8Array | null;
  isTruncated: boolean;
}

/** What the relay asks a thread. With `isExchange`, the answer to a request that passes is asked about as well, or `end` comes. */
export type Question =
  | { type: 'request'; id: number; request: RelayedRequest; body: CrossingBody; isExchange: boolean }
  | { type: 'response'; id: number; response: CrossingResponse };

/** To a thread. `retire`: takes nothing new, finishes what is open, within `lingerMs`. */
export type ToThread =
  | { type: 'config'; config: GuardConfig }
  | { type: 'retire'; lingerMs: number }
  | { type: 'end'; id: number }
  | Question;

/** From a thread: `line` is JSON for the server; `judged` and `unjudged` answer a question. */
export type FromThread =
  | { type: 'listening' }
  | { type: 'serving'; revision: number }
  | { type: 'refused'; revision: number; diagnostics: string[] }
  | { type: 'retired' }
  | { type: 'line'; line: string }
  | { type: 'judged'; id: number; judgement: Judgement; isOpen: boolean }
  | { type: 'unjudged'; id: number; reason: string };
