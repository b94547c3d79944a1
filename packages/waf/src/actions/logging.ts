import type { ActionReader } from '../compile/rule-parts.ts';
import { requireValue } from './require-value.ts';

const sanitise: ActionReader = (action, _rule, link, context) => {
  const name = requireValue(action, 'the name whose value is masked', context)?.toLowerCase();
  if (name !== undefined) link.effects.push((tx) => tx.maskedNames.add(name));
};

const sanitiseMatched: ActionReader = (_action, _rule, link) => {
  link.effects.push((tx) => tx.maskedNames.add(tx.matchedName.slice(tx.matchedName.indexOf(':') + 1).toLowerCase()));
};

/** Actions about logs. Secrets are masked in every verdict, so the sanitise… actions need no help. */
export const loggingActions: Readonly<Record<string, ActionReader>> = {
  log: (_action, rule) => {
    rule.isLogged = true;
  },
  nolog: (_action, rule) => {
    rule.isLogged = false;
  },
  // There is one log, the caller's.
  auditlog: () => undefined,
  noauditlog: () => undefined,
  sanitisearg: sanitise,
  sanitiserequestheader: sanitise,
  sanitiseresponseheader: sanitise,
  sanitisematched: sanitiseMatched,
  sanitisematchedbytes: sanitiseMatched,
  // No XPath that is supported has names with prefixes in it.
  xmlns: (action, _rule, _link, { diagnostics }) => {
    const value = action.value ?? '';
    if (!/^[^=\s]+='?https?:\/\/./.test(value)) {
      diagnostics.error(
        action.valuePlace,
        'This is not an XML namespace',
        value,
        'PREFIX=URL, the URL beginning with http://',
      );
    }
  },
};
