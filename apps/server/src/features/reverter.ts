import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { Refusal } from '@sallyport/store/errors';
import type { State } from '@sallyport/store/history/state';

/** What taking a change back does to its object. */
export type Undoing =
  /** It gets fields back. */
  | { does: 'update'; key: string; fields: State }
  /** It had come, and goes. */
  | { does: 'remove'; key: string }
  /** It had gone, and comes back: all that was kept of it. */
  | { does: 'restore'; key: string; state: State };

/** An object that a transaction has changed: its key in the history, and its number where it has one. */
export interface Touched {
  key: string;
  id: number;
}

/** One of many that are taken back together: who does it, and which change they take back. */
export interface OneOfMany {
  undoing: Undoing;
  actor: Actor;
}

/**
 * Takes many changes of different objects of one kind back together, in a few statements for all of them; `undefined` when they have to
 * be taken back one by one.
 */
export interface RevertsMany<T extends Touched = Touched> {
  /** The objects as the history keeps them, by key; those that are not there are not in it. */
  current(tx: Executor, keys: readonly string[]): Promise<ReadonlyMap<string, object>>;
  /** What became of each, by its key. When one is refused, others may be missing, and the caller has to roll all back. */
  apply(tx: Executor, ones: readonly OneOfMany[]): Promise<ReadonlyMap<string, T | { refusal: Refusal }> | undefined>;
}

/**
 * Takes changes of one kind of object back, by the ways in which everybody changes it: the same checks, rights and entries.
 * Its functions throw a `Refusal` for what no longer fits. `T`: what it has to know of a change to settle it.
 */
export interface Reverter<T extends Touched = Touched> {
  /** Whom changing such an object takes. */
  policy: 'member' | 'sensitive' | 'administrator';
  /** The object as the history keeps it; undefined when there is none. */
  current(tx: Executor, key: string): Promise<object | undefined>;
  /** What has to be found out, or done, before the transaction. */
  prepare?(undoing: Undoing): Promise<void>;
  /** The same for all of one kind that are taken back together. */
  prepareAll?(undoings: readonly Undoing[]): Promise<void>;
  apply(tx: Executor, undoing: Undoing, actor: Actor): Promise<T>;
  /** For kinds of which one request may change thousands. */
  many?: RevertsMany<T>;
  /** Called after the commit, with one at least; resolves when what was changed is live, or when it is known why it isn't. */
  settle(touched: readonly T[]): Promise<void>;
  /** The object as its GET answers; undefined when there is none. */
  show(key: string): Promise<object | undefined>;
}

/** Reverters by the paths below which their objects are: `proxy-hosts`. */
export type Reverters = Readonly<Record<string, Reverter>>;

/**
 * Lets what follows from changes happen, after their commit; resolves when they are live, or when it is known why not. Rejects with
 * the first failure, once all had their turn: what was stored must not be left out for the trouble of another kind.
 */
export const settleEach = async <T extends Touched>(
  touched: ReadonlyMap<Pick<Reverter<T>, 'settle'>, readonly T[]>,
): Promise<void> => {
  const failures: unknown[] = [];
  for (const [reverter, all] of touched) {
    await reverter.settle(all).catch((error: unknown) => void failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
};

/** The fields among `names` that a state has. */
export const fieldsOf = <T>(state: State, names: readonly string[]): T =>
  Object.fromEntries(names.filter((name) => name in state).map((name) => [name, state[name]])) as T;

/** What this resolves with; undefined when it rejects because there is no such object. */
export const ifThere = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  });
