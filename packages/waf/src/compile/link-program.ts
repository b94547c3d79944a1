import type { Link, PhaseProgram, Program, Rule } from '../model/program.ts';
import type { Settings } from '../model/settings.ts';
import type { Phase } from '../model/transaction.ts';
import { type BuiltRule, buildRule } from './build-rule.ts';
import type { CompileContext } from './context.ts';
import type { MarkerDraft, RuleDraft } from './drafts.ts';
import { createGrouping } from './groups.ts';
import type { RuleActions } from './rule-parts.ts';

type Item = { kind: 'marker'; label: string } | { kind: 'rule'; built: BuiltRule };

/** Compiles all drafts and lays them out by phase with their jumps resolved. */
export const linkProgram = (
  drafts: readonly (RuleDraft | MarkerDraft)[],
  settings: Settings,
  context: CompileContext,
  actions: RuleActions,
): Program => {
  const items: Item[] = [];
  for (const draft of drafts) {
    if (draft.kind === 'marker') items.push({ kind: 'marker', label: draft.label });
    else if (!draft.isRemoved) {
      const built = buildRule(draft, context, actions);
      if (built !== undefined) items.push({ kind: 'rule', built });
    }
  }
  const order = new Map(
    items.flatMap((item) => (item.kind === 'rule' ? [item.built] : [])).map((built, index) => [built, index]),
  );
  const grouping = createGrouping();
  const rules: Rule[] = [];
  const phases: PhaseProgram[] = [{ rules: [] }];
  for (const phase of [1, 2, 3, 4, 5] as const) {
    const built = items.flatMap((item) =>
      item.kind === 'rule' && item.built.parts.phase === phase ? [item.built] : [],
    );
    const skips = resolveSkips(items, phase, context);
    const groups = grouping.groupsOf(built.map((rule, at) => ({ links: rule.links, skipTo: skips[at]! })));
    const phaseRules = built.map((rule, at) => toRule(rule, order.get(rule)!, skips[at]!, groups[at]!));
    phases.push({ rules: phaseRules });
    for (const rule of phaseRules) rules[rule.index] = rule;
  }
  for (const [built, index] of order) {
    const { id, tagTexts, messageText } = built.parts;
    context.directory.add({ index, id, tags: tagTexts, message: messageText });
  }
  return {
    settings,
    rules,
    phases,
    groupCount: grouping.count,
    txNames: context.txNames.names,
    slotOf: context.txNames.slotOf,
  };
};

/** For each rule of the phase: the position to go on at after a match, or -1. */
const resolveSkips = (items: readonly Item[], phase: Phase, context: CompileContext): number[] => {
  const total = items.filter((item) => item.kind === 'rule' && item.built.parts.phase === phase).length;
  // From the end, so that a jump finds the nearest marker or rule id behind it.
  const places = new Map<string, number>();
  const skips: number[] = [];
  let position = total;
  for (const item of items.toReversed()) {
    if (item.kind === 'marker') {
      places.set(item.label, position);
      continue;
    }
    const { skip, id, phase: itsPhase } = item.built.parts;
    if (itsPhase === phase) {
      position--;
      if (skip === null) skips.push(-1);
      else if ('count' in skip) skips.push(Math.min(total, position + 1 + skip.count));
      else {
        const target = places.get(skip.marker);
        if (target === undefined) {
          const message = 'No marker or rule of this name follows: a match ends the phase';
          context.diagnostics.warning(skip.place, message, skip.marker, 'the label of a SecMarker below');
        }
        skips.push(target ?? total);
      }
    }
    places.set(String(id), position + (itsPhase === phase ? 1 : 0));
  }
  return skips.reverse();
};

const toRule = ({ parts, links, disruption }: BuiltRule, index: number, skipTo: number, group: number): Rule => ({
  index,
  id: parts.id,
  phase: parts.phase,
  place: parts.place,
  links,
  disruption,
  message: parts.message,
  logData: parts.logData,
  severity: parts.severity,
  tags: parts.tags,
  version: parts.version,
  revision: parts.revision,
  isLogged: parts.isLogged,
  skipTo,
  isScannable: isScannable(links[0]!),
  group,
});

const isScannable = ({ targets, operator }: Link): boolean =>
  operator?.isPure === true &&
  targets.length > 0 &&
  targets.every((target) => target.variable.kind === 'stored' && !target.isCount);
