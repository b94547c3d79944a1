import type { Transaction } from './transaction.ts';

/** What an effect does to TX and to the course of the transaction; an effect without one may do anything. */
export type Footprint = {
  /** TX slots that are read. */
  readonly reads: readonly number[];
  /** False when the outcome also depends on something else than TX. */
  readonly readsOnlyTx: boolean;
  /** TX slots that are written. */
  readonly writes: readonly number[];
  /** Names beginning with this may be written as well; null: none. */
  readonly writesPrefix: string | null;
  /** Indexes of rules that are taken out; known once all rules are read. */
  readonly removes: (() => readonly number[]) | null;
};

/** What a link does for each value that matches: setvar, ctl, initcol … in the order written. */
export type Effect = ((tx: Transaction) => void) & { readonly footprint?: Footprint };

const nothing: Footprint = { reads: [], readsOnlyTx: false, writes: [], writesPrefix: null, removes: null };

/** Marks an effect with what it does. */
export const withFootprint = (effect: Effect, footprint: Partial<Footprint>): Effect =>
  Object.assign(effect, { footprint: { ...nothing, ...footprint } });
