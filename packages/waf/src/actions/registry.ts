import { closestName } from '../compile/closest-name.ts';
import type { ActionReader, RuleActions } from '../compile/rule-parts.ts';
import { collectionActions } from './collections.ts';
import { ctlAction } from './ctl.ts';
import { disruptiveActions } from './disruptive.ts';
import { flowActions } from './flow.ts';
import { loggingActions } from './logging.ts';
import { metadataActions } from './metadata.ts';
import { refusedActions } from './refused.ts';
import { setvarAction } from './setvar.ts';

const readers: Readonly<Record<string, ActionReader>> = {
  ...metadataActions,
  ...disruptiveActions,
  ...flowActions,
  ...loggingActions,
  ...collectionActions,
  setvar: setvarAction,
  ctl: ctlAction,
};

const takeNoValue = new Set(
  'pass block deny drop chain capture multimatch log nolog auditlog noauditlog sanitisematched'.split(' '),
);

const read: ActionReader = (action, rule, link, context) => {
  if (Object.hasOwn(readers, action.name)) {
    if (action.value !== null && takeNoValue.has(action.name)) {
      context.diagnostics.error(action.valuePlace, `The action ${action.name} takes no value`, action.value);
    }
    readers[action.name]!(action, rule, link, context);
    return;
  }
  const reason = refusedActions.get(action.name);
  if (reason !== undefined) {
    context.diagnostics.error(action.place, `The action ${action.name} is not supported: ${reason}`, action.name);
    return;
  }
  const near = closestName(action.name, Object.keys(readers));
  context.diagnostics.error(action.place, 'There is no such action', action.name, near ?? 'an action of SecLang');
};

/** Every action of SecLang. */
export const ruleActions: RuleActions = { read, disruptive: disruptiveActions };
