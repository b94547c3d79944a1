import type { Settings } from '../model/settings.ts';
import type { Phase } from '../model/transaction.ts';
import type { ActionNode, Directive } from '../seclang/ast.ts';
import type { Place } from '../seclang/diagnostic.ts';
import { closestName } from './closest-name.ts';
import type { CompileContext } from './context.ts';
import { actionNamed, draftRule, type LinkDirective, type MarkerDraft, parsePhase, type RuleDraft } from './drafts.ts';
import type { RuleActions } from './rule-parts.ts';
import { applyRuleUpdate, isRuleUpdate } from './rule-updates.ts';
import { directivesWithoutEffect, refusedDirectives, settingDirectives } from './setting-directives.ts';

/** Groups directives into chains, applies settings and rule updates in file order. Removed rules are still in the answer. */
export const readDrafts = (
  directives: readonly Directive[],
  settings: Settings,
  context: CompileContext,
  actions: RuleActions,
): (RuleDraft | MarkerDraft)[] => {
  const { diagnostics } = context;
  const drafts: (RuleDraft | MarkerDraft)[] = [];
  const rules: RuleDraft[] = [];
  /** ModSecurity 3 lets them act on rules that are read later, too. */
  const updates: Extract<Directive, { kind: 'setting' }>[] = [];
  const defaults = new Map<Phase, readonly ActionNode[]>();
  const usedIds = new Map<number, Place>();
  /** The chain being read: its draft, or 'refused' while the links of a refused head pass by. */
  let open: RuleDraft | 'refused' | null = null;
  let lastPlace: Place | null = null;
  for (const directive of directives) {
    if (open !== null && directive.kind !== 'rule' && directive.kind !== 'action') {
      diagnostics.error(directive.place, 'A chain is still open here', '', 'the next SecRule of the chain');
      open = null;
    }
    lastPlace = directive.place;
    switch (directive.kind) {
      case 'marker':
        drafts.push({ kind: 'marker', place: directive.place, label: directive.label });
        break;
      case 'default-action':
        readDefaultAction(directive, defaults, context, actions);
        break;
      case 'setting':
        if (!isRuleUpdate(directive)) readSetting(directive, settings, context);
        else if (context.env.dialect === 'modsecurity3') updates.push(directive);
        else applyRuleUpdate(directive, rules, context);
        break;
      case 'rule':
      case 'action':
        open = readLink(directive, open);
        break;
      default:
        directive satisfies never;
    }
  }
  if (open !== null && lastPlace !== null)
    diagnostics.error(lastPlace, 'The last chain is never finished', '', 'another SecRule');
  for (const update of updates) applyRuleUpdate(update, rules, context);
  return drafts;

  function readLink(directive: LinkDirective, chain: typeof open): typeof open {
    const isChained = actionNamed(directive.actions, 'chain') !== undefined;
    if (chain === null) {
      const draft = draftRule(directive, defaults, usedIds, context);
      if (draft !== undefined) {
        drafts.push(draft);
        rules.push(draft);
      }
      return isChained ? (draft ?? 'refused') : null;
    }
    if (chain !== 'refused') chain.links.push(directive);
    return isChained ? chain : null;
  }
};

const readDefaultAction = (
  directive: Extract<Directive, { kind: 'default-action' }>,
  defaults: Map<Phase, readonly ActionNode[]>,
  context: CompileContext,
  { disruptive }: RuleActions,
): void => {
  const phaseAction = actionNamed(directive.actions, 'phase');
  const phase = parsePhase(phaseAction?.value ?? null);
  if (phaseAction === undefined || phase === null) {
    context.diagnostics.error(
      directive.place,
      'SecDefaultAction needs a phase',
      phaseAction?.value ?? '',
      'phase:1 to phase:5',
    );
    return;
  }
  const forbidden = directive.actions.find(({ name }) => ['id', 'chain', 'skip', 'skipafter', 'msg'].includes(name));
  if (forbidden !== undefined) {
    context.diagnostics.error(forbidden.place, `SecDefaultAction cannot hold ${forbidden.name}`, forbidden.name);
    return;
  }
  const decides = ({ name }: ActionNode): boolean =>
    name !== 'status' && name !== 'block' && Object.hasOwn(disruptive, name);
  if (!directive.actions.some(decides)) {
    const expected = 'pass, deny, drop, redirect or allow';
    context.diagnostics.error(directive.place, 'SecDefaultAction must say what block means', '', expected);
    return;
  }
  // Here `block` would mean itself.
  defaults.set(
    phase,
    directive.actions.filter(({ name }) => name !== 'block'),
  );
};

const readSetting = (
  directive: Extract<Directive, { kind: 'setting' }>,
  settings: Settings,
  context: CompileContext,
): void => {
  const { diagnostics } = context;
  const name = directive.name.toLowerCase();
  const reader = settingDirectives.get(name);
  if (reader !== undefined) {
    const expected = reader(settings, directive.args, context);
    if (expected !== null) {
      const [arg] = directive.args;
      diagnostics.error(
        arg?.placeOf(0) ?? directive.place,
        `${directive.name} expects ${expected}`,
        arg?.value ?? '',
        expected,
      );
    }
    return;
  }
  const inert = directivesWithoutEffect.get(name);
  if (inert !== undefined) {
    diagnostics.warning(directive.place, `${directive.name} has no effect: ${inert}`, directive.name);
    return;
  }
  const refusal = refusedDirectives.get(name);
  if (refusal !== undefined) {
    diagnostics.error(directive.place, `${directive.name} is not supported: ${refusal}`, directive.name);
    return;
  }
  const known = ['SecRule', 'SecAction', 'SecMarker', 'SecDefaultAction', 'Include', ...settingDirectives.keys()];
  const near = closestName(directive.name, known);
  diagnostics.error(
    directive.place,
    'There is no such directive',
    directive.name.slice(0, 40),
    near ?? 'a directive of SecLang',
  );
};
