import type { Rule } from '../../model/program.ts';
import type { RuleMatch } from '../../model/verdict.ts';
import { isSecretName, maskPairs, printable } from './secret-names.ts';
import type { RunningTransaction } from './transaction.ts';

const maxMatches = 1_000;
const maxMessage = 512;
const maxData = 512;
const maxSnippet = 96;
const maskedInput = 4_096;

const mask = '***';

/** Adds a fired rule to the transaction's matches, with its texts expanded now: macros see this moment only. */
export const recordMatch = (tx: RunningTransaction, rule: Rule, isDecisive: boolean): void => {
  if (tx.matches.length >= maxMatches) {
    tx.limitsHit.add('matches');
    if (!isDecisive) return;
  }
  const variable = tx.matchedName;
  const name = variable.slice(variable.indexOf(':') + 1).toLowerCase();
  const isSecret = isSecretName(variable) || tx.maskedNames.has(name);
  const texts = isSecret ? tx.whileMasked(mask, () => textsOf(tx, rule)) : textsOf(tx, rule);
  const match: RuleMatch = {
    id: rule.id,
    phase: rule.phase,
    ...texts,
    severity: rule.severity,
    tags: rule.tags.map((tag) => printable(tag.expand(tx), maxMessage)),
    variable: printable(variable, maxMessage),
    snippet: isSecret ? mask : shown(tx.matchedValue, maxSnippet),
    file: rule.place.file,
    line: rule.place.line,
    isDecisive,
  };
  tx.matches.push(match);
};

const textsOf = (tx: RunningTransaction, rule: Rule): { message: string; data: string } => ({
  message: shown(rule.message?.expand(tx) ?? '', maxMessage),
  data: shown(rule.logData?.expand(tx) ?? '', maxData),
});

const shown = (text: string, limit: number): string => printable(maskPairs(text.slice(0, maskedInput)), limit);
