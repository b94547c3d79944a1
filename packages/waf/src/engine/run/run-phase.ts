import type { Rule } from '../../model/program.ts';
import type { Interruption, Phase } from '../../model/transaction.ts';
import type { Candidates, Evaluator } from './evaluate.ts';
import { recordMatch } from './record-match.ts';
import type { Trace } from './trace.ts';
import type { RunningTransaction } from './transaction.ts';

/** Evaluates a rule with its chain; true when every link matched. */
export const evaluateRule = (
  tx: RunningTransaction,
  rule: Rule,
  candidates: Candidates,
  evaluator: Evaluator,
): boolean => {
  tx.rule = rule;
  if (tx.matchedVars.length > 0) tx.matchedVars = [];
  const { links } = rule;
  if (links[0]!.operator === null) {
    // SecAction matches no value; without this it would show that of a rule before it.
    tx.matchedName = '';
    tx.matchedValue = '';
  }
  if (!evaluator.link(tx, rule, links[0]!, candidates)) return false;
  for (let at = 1; at < links.length; at++) {
    if (!evaluator.link(tx, rule, links[at]!, null)) return false;
  }
  return true;
};

/** What a rule that fired does: it is recorded and may interrupt or allow. */
export const applyMatch = (tx: RunningTransaction, rule: Rule, trace: Trace | null): void => {
  const { disruption, severity } = rule;
  trace?.fired(rule);
  if (severity !== null && severity < tx.highestSeverity) tx.highestSeverity = severity;
  const interruption = tx.phase === 5 || tx.interruption !== null ? null : interruptionOf(tx, rule);
  if (rule.isLogged) recordMatch(tx, rule, interruption !== null);
  if (interruption !== null) tx.interruption = interruption;
  else if (disruption.kind === 'allow' && tx.phase !== 5) tx.allowed = disruption.scope;
};

const interruptionOf = (tx: RunningTransaction, rule: Rule): Interruption | null => {
  const { disruption } = rule;
  switch (disruption.kind) {
    case 'deny':
      return { kind: 'block', status: disruption.status, url: null, rule };
    case 'drop':
      return { kind: 'drop', status: 403, url: null, rule };
    case 'redirect':
      return { kind: 'redirect', status: disruption.status, url: disruption.url.expand(tx), rule };
    case 'pass':
    case 'allow':
      return null;
    default:
      return disruption satisfies never;
  }
};

/** Whether the current phase has to end: interrupted for real, allowed, switched off, or out of work. */
export const isPhaseOver = (tx: RunningTransaction): boolean => {
  if (tx.budget.exceeded || tx.budget.units < 0) return true;
  if (tx.engineMode === 'off') return true;
  if (tx.phase === 5) return false;
  return tx.allowed !== 'none' || (tx.interruption !== null && tx.engineMode === 'on');
};

/** How the rules of one phase are run: the scanning engine and the naive reference differ in this alone. */
export type PhaseRunner = (tx: RunningTransaction, phase: Phase) => void;

/** Every rule on every value, in file order: the reference. */
export const createNaiveRunner =
  (evaluator: Evaluator, trace: Trace | null): PhaseRunner =>
  (tx, phase) => {
    const { rules } = tx.program.phases[phase]!;
    for (let position = 0; position < rules.length && !isPhaseOver(tx); ) {
      const rule = rules[position]!;
      if (tx.isRemoved(rule)) {
        trace?.skipped(rule, 'removed', null);
        position++;
        continue;
      }
      trace?.visited(rule);
      if (!evaluateRule(tx, rule, null, evaluator)) {
        position++;
        continue;
      }
      applyMatch(tx, rule, trace);
      const next = rule.skipTo === -1 ? position + 1 : rule.skipTo;
      if (trace !== null)
        for (let jumped = position + 1; jumped < next; jumped++) trace.skipped(rules[jumped]!, 'jumped', rule);
      position = next;
    }
  };
