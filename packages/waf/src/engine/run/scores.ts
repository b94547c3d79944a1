import { atoi } from '../../bytes/bytes.ts';
import type { Program } from '../../model/program.ts';
import type { AnomalyScores } from '../../model/verdict.ts';
import type { RunningTransaction } from './transaction.ts';

/** Where CRS 3.3 and 4 keep a direction's scores in TX; the first name that has a value counts. */
type ScoreNames = {
  readonly levels: readonly (readonly string[])[];
  readonly totals: readonly string[];
  readonly threshold: readonly string[];
};

const paranoiaLevels = [1, 2, 3, 4] as const;
const names: { readonly inbound: ScoreNames; readonly outbound: ScoreNames } = {
  inbound: {
    levels: paranoiaLevels.map((level) => [`inbound_anomaly_score_pl${level}`, `anomaly_score_pl${level}`]),
    totals: ['blocking_inbound_anomaly_score', 'anomaly_score'],
    threshold: ['inbound_anomaly_score_threshold'],
  },
  outbound: {
    levels: paranoiaLevels.map((level) => [`outbound_anomaly_score_pl${level}`]),
    totals: ['blocking_outbound_anomaly_score', 'outbound_anomaly_score'],
    threshold: ['outbound_anomaly_score_threshold'],
  },
};

type Reader = (tx: RunningTransaction) => number | null;
type ScoreReaders = { readonly levels: readonly Reader[]; readonly total: Reader; readonly threshold: Reader };

/** Reads the first of these variables that is set. Names that the rules write literally have slots, known for good. */
const readerOf = (program: Program, candidates: readonly string[]): Reader => {
  const slots = candidates.map((name) => program.slotOf(name));
  return (tx) => {
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at]!;
      const value = slot === -1 ? tx.variables.extra.get(candidates[at]!) : tx.slotValue(slot);
      if (value !== undefined) return typeof value === 'number' ? value : atoi(value);
    }
    return null;
  };
};

const readersOf = (program: Program, { levels, totals, threshold }: ScoreNames): ScoreReaders => ({
  levels: levels.map((candidates) => readerOf(program, candidates)),
  total: readerOf(program, totals),
  threshold: readerOf(program, threshold),
});

const readers = new WeakMap<Program, { inbound: ScoreReaders; outbound: ScoreReaders }>();

const scores = (tx: RunningTransaction, { levels, total: readTotal, threshold }: ScoreReaders): AnomalyScores => {
  const level = (index: number): number => levels[index]!(tx) ?? 0;
  const byParanoiaLevel: AnomalyScores['byParanoiaLevel'] = [level(0), level(1), level(2), level(3)];
  const [one, two, three, four] = byParanoiaLevel;
  const total = readTotal(tx) ?? 0;
  return { total: total > 0 ? total : one + two + three + four, threshold: threshold(tx), byParanoiaLevel };
};

/** Anomaly scores where CRS 3.3 and 4 keep them in TX; the total falls back to the sum until the blocking evaluation has run. */
export const anomalyScores = (tx: RunningTransaction): { inbound: AnomalyScores; outbound: AnomalyScores } => {
  let known = readers.get(tx.program);
  if (known === undefined) {
    known = { inbound: readersOf(tx.program, names.inbound), outbound: readersOf(tx.program, names.outbound) };
    readers.set(tx.program, known);
  }
  return { inbound: scores(tx, known.inbound), outbound: scores(tx, known.outbound) };
};
