import type { RuleFacts, Transaction } from '../model/transaction.ts';

/** Texts being expanded: a message may name RULE.msg, which is itself. */
const open = new Set<object>();

const expand = (text: RuleFacts['message'], tx: Transaction): string => {
  if (text === null || open.has(text)) return '';
  open.add(text);
  try {
    return text.expand(tx);
  } finally {
    open.delete(text);
  }
};

/** The RULE collection: what the rule that is being evaluated says of itself. A message that names itself holds itself once. */
export const ruleFields = (tx: Transaction): [string, string][] => {
  const { rule } = tx;
  if (rule === null) return [];
  return [
    ['id', String(rule.id)],
    ['rev', rule.revision],
    ['ver', rule.version],
    ['severity', rule.severity === null ? '' : String(rule.severity)],
    ['msg', expand(rule.message, tx)],
    ['logdata', expand(rule.logData, tx)],
  ];
};
