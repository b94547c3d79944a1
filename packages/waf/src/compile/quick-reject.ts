import { compareNumbers, type NumericTest } from '../model/operator.ts';
import type { Link, Target } from '../model/program.ts';
import type { Transaction } from '../model/transaction.ts';

type Read = (tx: Transaction) => string | number | undefined;

/**
 * For a link that only compares numbers: a test that says, without evaluating the link, that no target can match. Most rules that
 * run on every request are such comparisons (paranoia-level gates, defaults), and most do not match. null: not such a link.
 */
export const quickReject = ({
  targets,
  operator,
  transformations,
}: Pick<Link, 'targets' | 'operator' | 'transformations'>): ((tx: Transaction) => boolean) | null => {
  if (operator === null || operator.numeric === null || transformations.length > 0 || targets.length === 0) return null;
  const reads = targets.map(readerOf);
  if (!reads.every((read) => read !== null)) return null;
  const { numeric, isNegated } = operator;
  const [first] = reads;
  if (reads.length === 1) return rejectOne(first!, numeric, isNegated);
  const rejects = reads.map((read) => rejectOne(read, numeric, isNegated));
  return (tx) => rejects.every((reject) => reject(tx));
};

const rejectOne =
  (read: Read, numeric: NumericTest, isNegated: boolean) =>
  (tx: Transaction): boolean => {
    const value = read(tx);
    return value === undefined || compareNumbers(numeric, value, tx) === isNegated;
  };

const readerOf = ({ variable, isCount, slot, selector, sources }: Target): Read | null => {
  if (variable.kind === 'tx' && slot >= 0) {
    return isCount ? (tx) => (tx.slotValue(slot) === undefined ? 0 : 1) : (tx) => tx.slotValue(slot);
  }
  if (variable.kind === 'computed') return isCount ? null : variable.read;
  if (variable.kind !== 'stored' || !isCount || selector?.kind === 'regex') return null;
  return (tx) => {
    let count = 0;
    for (const source of sources) {
      count += (selector === null ? tx.entriesOf(source) : tx.entriesNamed(source, selector.key)).length;
    }
    return count;
  };
};
