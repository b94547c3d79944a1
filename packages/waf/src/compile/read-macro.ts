import { latin1 } from '../bytes/bytes.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Variable } from '../model/variable.ts';
import type { TxNames } from './tx-names.ts';

/** How a macro reads a variable: the first value, or the first of that name; empty when there is none. */
export const readMacro = (variable: Variable, name: string | null, txNames: TxNames): ((tx: Transaction) => string) => {
  const key = name?.toLowerCase() ?? null;
  switch (variable.kind) {
    case 'tx': {
      if (key === null) return () => '';
      const slot = txNames.slotFor(key);
      return (tx) => {
        const value = tx.slotValue(slot);
        return value === undefined ? '' : String(value);
      };
    }
    case 'computed':
      return (tx) => {
        const value = variable.read(tx);
        return value === undefined ? '' : String(value);
      };
    case 'persistent':
      return (tx) => (key === null ? '' : (tx.persistentValue(variable.collection, key) ?? ''));
    case 'table':
      return (tx) => {
        for (const [entryName, value] of variable.read(tx)) {
          if (key === null || entryName.toLowerCase() === key) return value;
        }
        return '';
      };
    case 'stored':
      return (tx) => {
        for (const source of variable.sources) {
          const [entry] = key === null ? tx.entriesOf(source) : tx.entriesNamed(source, key);
          if (entry !== undefined) return latin1(entry.buf, entry.start, entry.end);
        }
        return '';
      };
    default:
      return variable satisfies never;
  }
};
