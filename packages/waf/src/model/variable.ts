import type { Transaction } from './transaction.ts';

/** How a variable gets its values. */
export type Variable =
  | {
      /** Values that stand in the request or response: they can be scanned once, whatever the rules do. */
      readonly kind: 'stored';
      readonly name: string;
      readonly sources: readonly number[];
      readonly isCollection: boolean;
    }
  | {
      /** One value worked out when a rule asks; undefined: the variable is not set. */
      readonly kind: 'computed';
      readonly name: string;
      readonly read: (tx: Transaction) => string | number | undefined;
    }
  | { readonly kind: 'tx'; readonly name: 'TX' }
  | { readonly kind: 'persistent'; readonly name: string; readonly collection: string }
  | {
      /** Small named tables of the transaction itself. */
      readonly kind: 'table';
      readonly name: string;
      readonly read: (tx: Transaction) => Iterable<readonly [name: string, value: string]>;
    };
