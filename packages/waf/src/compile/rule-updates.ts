import { bytesOf } from '../bytes/bytes.ts';
import { compilePattern } from '../regex/index.ts';
import { parseActions } from '../seclang/actions.ts';
import type { Directive, Text } from '../seclang/ast.ts';
import { parseTargets } from '../seclang/targets.ts';
import type { CompileContext } from './context.ts';
import { actionNamed, type RuleDraft } from './drafts.ts';
import { parseIdRanges } from './id-ranges.ts';

type Setting = Extract<Directive, { kind: 'setting' }>;
/** Whether a directive is one of those that `applyRuleUpdate` reads. */
export const isRuleUpdate = ({ name }: Setting): boolean =>
  /^secrule(?:(?:remove|updatetarget)by(?:id|tag|msg)|updateactionbyid)$/i.test(name);

type Choose = (draft: RuleDraft) => boolean;

/**
 * SecRuleRemoveBy… and SecRuleUpdate…By…: they act on the rules given, which are those read so far with ModSecurity 2 and all with 3.
 */
export const applyRuleUpdate = (directive: Setting, drafts: readonly RuleDraft[], context: CompileContext): void => {
  const name = directive.name.toLowerCase();
  const found = /^secrule(remove|updatetarget|updateaction)by(id|tag|msg)$/.exec(name);
  if (found === null) return;
  const [, verb, by] = found as unknown as [string, 'remove' | 'updatetarget' | 'updateaction', 'id' | 'tag' | 'msg'];
  const { args } = directive;
  const { diagnostics } = context;
  const takesChange = verb !== 'remove';
  const most = verb === 'remove' ? (by === 'id' ? Number.MAX_SAFE_INTEGER : 1) : verb === 'updatetarget' ? 3 : 2;
  if (args.length < (takesChange ? 2 : 1) || args.length > most) {
    const expected = takesChange
      ? `which rules, then the ${verb === 'updatetarget' ? 'targets' : 'actions'}`
      : 'which rules';
    diagnostics.error(directive.place, `${directive.name} takes ${expected}`, args[most]?.value ?? '', expected);
    return;
  }
  const chooser =
    by === 'id' ? chooseById(takesChange ? [args[0]!] : args, context) : chooseByText(args[0]!, by, context);
  if (chooser === null) return;
  const chosen = drafts.filter((draft) => !draft.isRemoved && chooser.choose(draft));
  if (chosen.length === 0) {
    diagnostics.warning(
      args[0]!.placeOf(0),
      `${directive.name} finds no rule${context.env.dialect === 'modsecurity3' ? '' : ' above this line'}`,
      args[0]!.value,
    );
  }
  if (verb === 'remove') for (const draft of chosen) draft.isRemoved = true;
  else if (verb === 'updatetarget') updateTargets(chosen, args[1]!, args[2], context);
  else updateActions(chosen, args[1]!, chooser.chainOffset, context);
};

const chooseById = (args: readonly Text[], context: CompileContext): { choose: Choose; chainOffset: number } | null => {
  const withOffset = /^(\d+):(\d+)$/.exec(args[0]!.value.trim());
  if (args.length === 1 && withOffset !== null) {
    const id = Number(withOffset[1]);
    return { choose: (draft) => draft.id === id, chainOffset: Number(withOffset[2]) };
  }
  const ranges: { from: number; to: number }[] = [];
  for (const arg of args) {
    const parsed = parseIdRanges(arg.value);
    if (parsed === null) {
      context.diagnostics.error(
        arg.placeOf(0),
        'This is not a list of rule ids',
        arg.value,
        'ids such as 941100 or 942000-942999',
      );
      return null;
    }
    ranges.push(...parsed);
  }
  return { choose: (draft) => ranges.some(({ from, to }) => draft.id >= from && draft.id <= to), chainOffset: 0 };
};

const chooseByText = (
  arg: Text,
  by: 'tag' | 'msg',
  context: CompileContext,
): { choose: Choose; chainOffset: number } | null => {
  try {
    const pattern = compilePattern(arg.value);
    const matches = (text: string): boolean => {
      const bytes = bytesOf(text);
      return pattern.test(bytes, 0, bytes.length, { units: 1_000_000, exceeded: false });
    };
    const choose: Choose = ({ links }) =>
      links[0]!.actions.some((action) => action.name === by && action.value !== null && matches(action.value));
    return { choose, chainOffset: 0 };
  } catch (cause) {
    context.diagnostics.error(arg.placeOf(0), `This pattern is not valid: ${(cause as Error).message}`, arg.value);
    return null;
  }
};

const updateTargets = (
  drafts: readonly RuleDraft[],
  added: Text,
  replaced: Text | undefined,
  context: CompileContext,
): void => {
  const nodes = parseTargets(added, context.diagnostics);
  const gone = new Set(replaced === undefined ? [] : parseTargets(replaced, context.diagnostics).map(targetKey));
  for (const draft of drafts) {
    const head = draft.links[0]!;
    if (head.kind !== 'rule') {
      context.diagnostics.error(
        added.placeOf(0),
        `The rule ${draft.id} is a SecAction and has no variables`,
        added.value,
      );
      continue;
    }
    const kept = head.targets.filter((target) => !gone.has(targetKey(target)));
    draft.links[0] = { ...head, targets: [...kept, ...nodes] };
  }
};

const targetKey = (target: { source: string }): string => target.source.toLowerCase();

const disruptive = new Set(['allow', 'block', 'deny', 'drop', 'pass', 'proxy', 'redirect']);

const updateActions = (
  drafts: readonly RuleDraft[],
  added: Text,
  chainOffset: number,
  context: CompileContext,
): void => {
  const actions = parseActions(added, context.diagnostics);
  for (const fixed of ['id', 'phase', 'chain']) {
    const action = actionNamed(actions, fixed);
    if (action !== undefined)
      context.diagnostics.error(action.place, `SecRuleUpdateActionById cannot change ${fixed}`, fixed);
  }
  const replacesDisruption = actions.some(({ name }) => disruptive.has(name));
  const replacesTransformations = actions.some(({ name }) => name === 't');
  for (const draft of drafts) {
    const link = draft.links[chainOffset];
    if (link === undefined) {
      context.diagnostics.error(
        added.placeOf(0),
        `The rule ${draft.id} has no chain link ${chainOffset}`,
        String(chainOffset),
      );
      continue;
    }
    const kept = link.actions.filter(
      ({ name }) => !(replacesDisruption && disruptive.has(name)) && !(replacesTransformations && name === 't'),
    );
    draft.links[chainOffset] = { ...link, actions: [...kept, ...actions] };
  }
};
