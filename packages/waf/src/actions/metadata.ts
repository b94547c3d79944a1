import { compileMacro } from '../compile/macro.ts';
import type { ActionReader, RuleParts } from '../compile/rule-parts.ts';
import { requireValue } from './require-value.ts';

const severities = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'];

const text =
  (set: (rule: RuleParts, value: string) => void): ActionReader =>
  (action, rule, _link, context) => {
    const value = requireValue(action, 'a text', context);
    if (value !== null) set(rule, value);
  };

/** How sure the author is of the rule: said to readers of an audit log, of which the caller's knows nothing. */
const estimate: ActionReader = (action, _rule, _link, context) => {
  if (/^\d$/.test(action.value ?? '')) return;
  context.diagnostics.error(action.valuePlace, `This is not a value of ${action.name}`, action.value ?? '', '0 to 9');
};

/** Actions that describe a rule. id and phase are read with the draft. */
export const metadataActions: Readonly<Record<string, ActionReader>> = {
  id: (action, _rule, link, context) => {
    if (!link.isHead) context.diagnostics.error(action.place, 'Only the first rule of a chain has an id', action.name);
  },
  phase: (action, _rule, link, context) => {
    if (!link.isHead)
      context.diagnostics.error(action.place, 'Only the first rule of a chain has a phase', action.name);
  },
  msg: (action, rule, _link, context) => {
    const value = requireValue(action, 'a text', context);
    if (value === null) return;
    rule.message = compileMacro(value, action.valuePlace, context);
    rule.messageText = value;
  },
  logdata: (action, rule, _link, context) => {
    const value = requireValue(action, 'a text', context);
    if (value !== null) rule.logData = compileMacro(value, action.valuePlace, context);
  },
  tag: (action, rule, _link, context) => {
    const value = requireValue(action, 'a text', context);
    if (value === null) return;
    rule.tags.push(compileMacro(value, action.valuePlace, context));
    rule.tagTexts.push(value);
  },
  severity: (action, rule, _link, context) => {
    const word = (action.value ?? '').toLowerCase();
    const severity = /^[0-7]$/.test(word) ? Number(word) : severities.indexOf(word);
    if (severity >= 0) rule.severity = severity;
    else
      context.diagnostics.error(
        action.valuePlace,
        'This is not a severity',
        action.value ?? '',
        `0 to 7 or ${severities.join(', ')}`,
      );
  },
  rev: text((rule, value) => {
    rule.revision = value;
  }),
  ver: text((rule, value) => {
    rule.version = value;
  }),
  maturity: estimate,
  accuracy: estimate,
};
