import type { Action, EncodedActions } from './actions.ts';
import type { Disconnect } from './disconnect.ts';
import type { Message } from './messages.ts';

/** A connection as handlers and observers see it; `engineId` and the negotiated `maxFrameSize` are known after the hello. */
export type Connection = {
  readonly id: number;
  readonly engineId: string | null;
  readonly maxFrameSize: number;
  readonly isHealthCheck: boolean;
  /** No answer can reach HAProxy any more: work for it may be given up. */
  readonly isClosed: boolean;
};

/** Where a NOTIFY came from. */
export type NotifyContext = { readonly connection: Connection; readonly streamId: number; readonly frameId: number };

/** The answer to a NOTIFY; an empty one sets no variable, which a fail-closed configuration refuses. */
export type Actions = readonly Action[] | EncodedActions;

/** Judges a NOTIFY. A plain return is answered within the same read; a promise when it settles. */
export type NotifyHandler = (messages: readonly Message[], context: NotifyContext) => Actions | Promise<Actions>;

/** How a connection ended, and who ended it; an end without a word (EOF or a reset) is the network's and has status 1. */
export type ConnectionEnd = Disconnect & { by: 'agent' | 'haproxy' | 'network' };

/** Told of what happens; these functions must not throw. Health checks are counted but not reported. */
export type Observer = {
  /** A handler threw, rejected, took too long or answered something that can't be encoded; HAProxy got no actions. */
  handlerFailed?(error: unknown, context: NotifyContext): void;
  /** Answers are about to be written, one or many: what has to be on record before HAProxy has them is put there now. */
  answering?(): void;
  connectionOpened?(connection: Connection): void;
  connectionClosed?(connection: Connection, end: ConnectionEnd): void;
};
