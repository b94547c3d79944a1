import type { Disruption, Link } from '../model/program.ts';
import type { ActionNode } from '../seclang/ast.ts';
import type { CompileContext } from './context.ts';
import type { LinkDirective, RuleDraft } from './drafts.ts';
import { warnOfEarlyTargets } from './early-targets.ts';
import { compileOperator } from './operators.ts';
import { quickReject } from './quick-reject.ts';
import type { LinkParts, RuleActions, RuleParts } from './rule-parts.ts';
import { compileTargets } from './targets.ts';

export type BuiltRule = { readonly parts: RuleParts; readonly links: readonly Link[]; readonly disruption: Disruption };

/** Compiles a draft; undefined when something in it was refused (the diagnostics say what). */
export const buildRule = (draft: RuleDraft, context: CompileContext, actions: RuleActions): BuiltRule | undefined => {
  const parts: RuleParts = {
    id: draft.id,
    phase: draft.phase,
    place: draft.place,
    disruption: { kind: 'pass' },
    status: null,
    message: null,
    messageText: '',
    logData: null,
    severity: null,
    tags: [],
    tagTexts: [],
    version: '',
    revision: '',
    isLogged: true,
    skip: null,
  };
  const links: Link[] = [];
  let isComplete = true;
  for (const [at, directive] of draft.links.entries()) {
    const link = buildLink(directive, at === 0, draft, parts, context, actions);
    if (link === undefined) isComplete = false;
    else links.push(link);
  }
  if (!isComplete) return undefined;
  return { parts, links, disruption: resolveDisruption(parts, draft.defaults, context, actions) };
};

const buildLink = (
  directive: LinkDirective,
  isHead: boolean,
  draft: RuleDraft,
  parts: RuleParts,
  context: CompileContext,
  actions: RuleActions,
): Link | undefined => {
  const link: LinkParts = {
    isHead,
    isChained: false,
    isMultiMatch: false,
    isCapturing: false,
    transformations: [],
    effects: [],
  };
  const defaults = draft.defaults.filter(
    ({ name }) => name !== 'phase' && (isHead ? !Object.hasOwn(actions.disruptive, name) : name === 't'),
  );
  for (const action of [...defaults, ...directive.actions]) actions.read(action, parts, link, context);
  const nodes = directive.kind === 'rule' ? directive.targets : [];
  const { targets, exclusions } = compileTargets(nodes, context);
  warnOfEarlyTargets(nodes, targets, draft.phase, context);
  const operator = directive.kind === 'rule' ? compileOperator(directive.operator, context) : null;
  if (operator === undefined) return undefined;
  return {
    place: directive.place,
    targets,
    exclusions,
    operator,
    transformations: link.transformations,
    isMultiMatch: link.isMultiMatch,
    isCapturing: link.isCapturing,
    effects: link.effects,
    cannotMatch: quickReject({ targets, operator, transformations: link.transformations }),
  };
};

/** `block` means what SecDefaultAction says for the phase; nothing written means the same. */
const resolveDisruption = (
  parts: RuleParts,
  defaults: readonly ActionNode[],
  context: CompileContext,
  actions: RuleActions,
): Disruption => {
  const wanted = parts.disruption;
  const resolved = wanted.kind === 'block' ? defaultDisruption(parts, defaults, context, actions) : wanted;
  if (parts.status === null) return resolved;
  if (resolved.kind === 'deny') return { ...resolved, status: parts.status };
  if (resolved.kind === 'redirect' && parts.status >= 300 && parts.status < 400)
    return { ...resolved, status: parts.status };
  return resolved;
};

const defaultDisruption = (
  parts: RuleParts,
  defaults: readonly ActionNode[],
  context: CompileContext,
  { disruptive }: RuleActions,
): Disruption => {
  const scratch: RuleParts = { ...parts, disruption: { kind: 'pass' }, status: null };
  const link: LinkParts = {
    isHead: true,
    isChained: false,
    isMultiMatch: false,
    isCapturing: false,
    transformations: [],
    effects: [],
  };
  for (const action of defaults) {
    if (Object.hasOwn(disruptive, action.name)) disruptive[action.name]!(action, scratch, link, context);
  }
  const { disruption } = scratch;
  if (disruption.kind === 'deny' && scratch.status !== null) return { kind: 'deny', status: scratch.status };
  // SecDefaultAction never keeps `block`, which would mean itself.
  return disruption.kind === 'block' ? { kind: 'pass' } : disruption;
};
