import type { Verdict } from '../../src/index.ts';

/** A verdict without what may differ between two ways to the same answer (work, time). */
export const digest = ({ action, status, wouldBe, ruleId, redirectUrl, scores, limitsHit, matches }: Verdict) => ({
  action,
  status,
  wouldBe,
  ruleId,
  redirectUrl,
  scores,
  limitsHit: [...limitsHit].sort(),
  matches: matches.map(({ id, phase, message, data, variable, snippet, isDecisive }) => ({
    id,
    phase,
    message,
    data,
    variable,
    snippet,
    isDecisive,
  })),
});
