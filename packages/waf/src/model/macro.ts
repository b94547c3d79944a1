import type { Transaction } from './transaction.ts';

/** Text with `%{…}` resolved at run time. Latin-1. */
export type Macro = {
  readonly constant: string | null;
  /** TX slots that it reads, and whether it reads nothing else. */
  readonly slots: readonly number[];
  readonly readsOnlyTx: boolean;
  expand(tx: Transaction): string;
};
