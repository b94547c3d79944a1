import type { Phase } from '../model/transaction.ts';
import type { ActionNode, Directive } from '../seclang/ast.ts';
import type { Place } from '../seclang/diagnostic.ts';
import type { CompileContext } from './context.ts';

export type LinkDirective = Extract<Directive, { kind: 'rule' | 'action' }>;

/** A rule as written: its chain and the default actions in force where it stands. SecRuleUpdate… changes it before it is compiled. */
export type RuleDraft = {
  readonly kind: 'rule';
  readonly place: Place;
  readonly id: number;
  readonly phase: Phase;
  readonly links: LinkDirective[];
  readonly defaults: readonly ActionNode[];
  isRemoved: boolean;
};

export type MarkerDraft = { readonly kind: 'marker'; readonly place: Place; readonly label: string };

const phaseNames: Readonly<Record<string, Phase>> = { request: 2, response: 4, logging: 5 };

/** Reads the value of a phase action; null when it is none. */
export const parsePhase = (value: string | null): Phase | null => {
  const word = (value ?? '').trim().toLowerCase();
  if (/^[1-5]$/.test(word)) return Number(word) as Phase;
  return Object.hasOwn(phaseNames, word) ? phaseNames[word]! : null;
};

export const actionNamed = (actions: readonly ActionNode[], name: string): ActionNode | undefined =>
  actions.findLast((action) => action.name === name);

/** Makes the draft of a chain's head; undefined (with a diagnostic) when it has no usable id. */
export const draftRule = (
  head: LinkDirective,
  defaults: ReadonlyMap<Phase, readonly ActionNode[]>,
  usedIds: Map<number, Place>,
  context: CompileContext,
): RuleDraft | undefined => {
  const { diagnostics } = context;
  for (const once of ['id', 'phase']) {
    const second = head.actions.filter(({ name }) => name === once)[1];
    if (second !== undefined) {
      diagnostics.warning(second.place, `A rule has one ${once}: the last one counts`, `${once}:${second.value ?? ''}`);
    }
  }
  const phaseAction = actionNamed(head.actions, 'phase');
  const phase = phaseAction === undefined ? 2 : parsePhase(phaseAction.value);
  if (phase === null) {
    diagnostics.error(
      phaseAction!.valuePlace,
      'This is not a phase',
      phaseAction!.value ?? '',
      '1 to 5, request, response or logging',
    );
    return undefined;
  }
  const idAction = actionNamed(head.actions, 'id');
  if (idAction === undefined) {
    diagnostics.error(head.place, 'A rule needs an id', '', 'an action id:NUMBER');
    return undefined;
  }
  const written = (idAction.value ?? '').trim();
  const id = Number(written);
  if (!/^\d{1,15}$/.test(written) || id < 1) {
    diagnostics.error(idAction.valuePlace, 'This is not a rule id', written, 'a whole number above 0');
    return undefined;
  }
  const other = usedIds.get(id);
  if (other !== undefined) {
    const where = `${other.file}:${other.line}`;
    diagnostics.error(
      idAction.valuePlace,
      `The id ${id} is already taken by the rule at ${where}`,
      written,
      'an id of its own',
    );
    return undefined;
  }
  usedIds.set(id, head.place);
  return {
    kind: 'rule',
    place: head.place,
    id,
    phase,
    links: [head],
    defaults: defaults.get(phase) ?? [],
    isRemoved: false,
  };
};
