import type { CompileContext } from '../compile/context.ts';
import { compileExclusions } from '../compile/exclusions.ts';
import { parseIdRanges } from '../compile/id-ranges.ts';
import { withFootprint } from '../model/effect.ts';
import type { ActionNode } from '../seclang/ast.ts';
import type { ControlReader } from './control-reader.ts';

type By = 'id' | 'tag' | 'msg';

/** Rule indexes that a selector names. Worked out at the first use, when every rule is known. */
const chooser = (
  by: By,
  selector: string,
  action: ActionNode,
  context: CompileContext,
): (() => readonly number[]) | null => {
  const { directory, diagnostics } = context;
  let chosen: readonly number[] | undefined;
  if (by === 'id') {
    const ranges = parseIdRanges(selector);
    if (ranges === null) {
      diagnostics.error(action.valuePlace, 'These are not rule ids', selector, 'ids such as 941100 or 942000-942999');
      return null;
    }
    return () => (chosen ??= directory.byId(ranges));
  }
  const look = by === 'tag' ? directory.byTag : directory.byMessage;
  try {
    look(selector);
  } catch (cause) {
    diagnostics.error(action.valuePlace, `This pattern is not valid: ${(cause as Error).message}`, selector);
    return null;
  }
  return () => (chosen ??= look(selector));
};

const removeRules =
  (by: By): ControlReader =>
  (value, action, context) => {
    const choose = chooser(by, value.trim(), action, context);
    return choose === null ? null : withFootprint((tx) => tx.removeRules(choose()), { removes: choose });
  };

const removeTargets =
  (by: By): ControlReader =>
  (value, action, context) => {
    const split = value.indexOf(';');
    if (split === -1) {
      context.diagnostics.error(
        action.valuePlace,
        'A target must follow the rules',
        value,
        'a semicolon and a variable',
      );
      return null;
    }
    const choose = chooser(by, value.slice(0, split).trim(), action, context);
    const exclusions = compileExclusions(value.slice(split + 1).trim(), action, context);
    if (choose === null || exclusions.length === 0) return null;
    return withFootprint((tx) => tx.removeTargets(choose(), exclusions), { removes: choose });
  };

/** The ctl options that take rules, or targets of rules, out of the running transaction. */
export const ruleControls: Readonly<Record<string, ControlReader>> = {
  ruleremovebyid: removeRules('id'),
  ruleremovebytag: removeRules('tag'),
  ruleremovebymsg: removeRules('msg'),
  ruleremovetargetbyid: removeTargets('id'),
  ruleremovetargetbytag: removeTargets('tag'),
  ruleremovetargetbymsg: removeTargets('msg'),
};
