import type { Verdict } from '../../model/verdict.ts';
import { anomalyScores } from './scores.ts';
import type { RunningTransaction } from './transaction.ts';

/** The transaction's verdict as it stands. */
export const toVerdict = (tx: RunningTransaction): Verdict => {
  const { interruption } = tx;
  const isDetectionOnly = tx.engineMode !== 'on';
  const wouldBe = interruption?.kind ?? 'pass';
  const action = isDetectionOnly ? 'pass' : wouldBe;
  return {
    action,
    status: action === 'pass' ? 200 : interruption!.status,
    redirectUrl: action === 'redirect' ? interruption!.url : null,
    wouldBe,
    isDetectionOnly,
    ruleId: interruption?.rule?.id ?? null,
    matches: [...tx.matches],
    scores: anomalyScores(tx),
    limitsHit: [...tx.limitsHit],
    workUnits: tx.workSpent,
    durationMs: tx.elapsedMs(),
  };
};
