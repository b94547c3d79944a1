import { atoi } from './bytes.ts';
import type { Transaction } from './transaction.ts';
import type { AnomalyScores } from './verdict.ts';

const numberNamed = (tx: Transaction, names: readonly string[]): number | null => {
  for (const name of names) {
    const value = tx.readTx(name);
    if (value !== undefined) return typeof value === 'number' ? value : atoi(value);
  }
  return null;
};

const scores = (
  tx: Transaction,
  perLevel: (level: number) => string[],
  totals: string[],
  threshold: string,
): AnomalyScores => {
  const level = (number: number): number => numberNamed(tx, perLevel(number)) ?? 0;
  const byParanoiaLevel: AnomalyScores['byParanoiaLevel'] = [level(1), level(2), level(3), level(4)];
  const sum = byParanoiaLevel.reduce((total, score) => total + score, 0);
  const total = numberNamed(tx, totals) ?? 0;
  return { total: total > 0 ? total : sum, threshold: numberNamed(tx, [threshold]), byParanoiaLevel };
};

/** Anomaly scores where CRS 3.3 and 4 keep them in TX; the total falls back to the sum until the blocking evaluation has run. */
export const anomalyScores = (tx: Transaction): { inbound: AnomalyScores; outbound: AnomalyScores } => ({
  inbound: scores(
    tx,
    (level) => [`inbound_anomaly_score_pl${level}`, `anomaly_score_pl${level}`],
    ['blocking_inbound_anomaly_score', 'anomaly_score'],
    'inbound_anomaly_score_threshold',
  ),
  outbound: scores(
    tx,
    (level) => [`outbound_anomaly_score_pl${level}`],
    ['blocking_outbound_anomaly_score', 'outbound_anomaly_score'],
    'outbound_anomaly_score_threshold',
  ),
});
