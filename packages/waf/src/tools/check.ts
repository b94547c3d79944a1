import { compileProgram } from '../engine/compile.ts';
import type { Link, PhaseProgram, Program, Rule } from '../model/program.ts';
import type { CompileEnv, RuleSource } from '../model/rule-set.ts';
import type { Diagnostic, Place } from '../seclang/diagnostic.ts';

/** Something about a rule that compiles and still deserves a look. */
export type RuleFinding = Place & {
  readonly kind: 'unreachable' | 'superlinear';
  readonly ruleId: number;
  readonly message: string;
};

/** What is to be said about rule files: mistakes, and what looks like one. */
export type CheckReport = {
  readonly ruleCount: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly findings: readonly RuleFinding[];
};

/** Body variables by their first phase with a value: a rule of an earlier phase sees none. */
const firstPhaseOf: Readonly<Record<string, number>> = {
  ARGS_POST: 2,
  ARGS_POST_NAMES: 2,
  REQUEST_BODY: 2,
  FILES: 2,
  FILES_NAMES: 2,
  FILES_SIZES: 2,
  FILES_TMP_CONTENT: 2,
  XML: 2,
  MULTIPART_PART_HEADERS: 2,
  RESPONSE_HEADERS: 3,
  RESPONSE_HEADERS_NAMES: 3,
  RESPONSE_STATUS: 3,
  RESPONSE_PROTOCOL: 3,
  RESPONSE_BODY: 4,
};

/**
 * Lints rule text: every diagnostic, rules that can never match, and patterns on which a backtracking engine would be superlinear
 * (they are harmless here, but not where else the rules may run). The patterns are tried out, which takes seconds for all of CRS.
 */
export const check = (sources: readonly RuleSource[], env: CompileEnv = {}): CheckReport => {
  const { program, diagnostics } = compileProgram(sources, env);
  if (program === null) return { ruleCount: 0, diagnostics, findings: [] };
  const findings = [...unreachableRules(program), ...superlinearPatterns(program)];
  findings.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  return { ruleCount: program.rules.length, diagnostics, findings };
};

const finding = (rule: Rule, place: Place, kind: RuleFinding['kind'], message: string): RuleFinding => {
  const { file, line, column } = place;
  return { file, line, column, kind, ruleId: rule.id, message };
};

const unreachableRules = (program: Program): RuleFinding[] => {
  const found = new Map<Rule, string>();
  for (const phase of program.phases) for (const [rule, reason] of jumpedOver(phase)) found.set(rule, reason);
  for (const rule of program.rules) {
    const reason = rule.links.map((link) => blindReason(link, rule)).find((one) => one !== null);
    if (reason != null && !found.has(rule)) found.set(rule, reason);
  }
  return [...found].map(([rule, reason]) => finding(rule, rule.place, 'unreachable', reason));
};

/** Rules behind a SecAction that always jumps over them or always ends the phase. */
const jumpedOver = ({ rules }: PhaseProgram): [Rule, string][] => {
  const found: [Rule, string][] = [];
  for (const [position, rule] of rules.entries()) {
    if (rule.links.length !== 1 || rule.links[0]!.operator !== null) continue;
    const ends = rule.disruption.kind !== 'pass' && rule.phase !== 5;
    const end = ends ? rules.length : rule.skipTo;
    const what = ends ? `ends the phase with ${rule.disruption.kind}` : 'jumps over it';
    for (let at = position + 1; at < end; at++)
      found.push([rules[at]!, `The SecAction ${rule.id} above always ${what}`]);
  }
  return found;
};

/** Why a link never sees a value; null when it may. */
const blindReason = (link: Link, rule: Rule): string | null => {
  if (link.operator === null || link.targets.some(({ isCount }) => isCount)) return null;
  const phases = link.targets.map(({ variable }) => firstPhaseOf[variable.name] ?? 1);
  const earliest = Math.min(...phases);
  if (earliest > rule.phase)
    return `In phase ${rule.phase} none of its variables has a value: they come with phase ${earliest}`;
  return null;
};

const superlinearPatterns = (program: Program): RuleFinding[] => {
  const reasons = new Map<string, string | null>();
  const found: RuleFinding[] = [];
  for (const rule of program.rules) {
    for (const link of rule.links) {
      const pattern = link.operator?.pattern ?? null;
      if (pattern === null) continue;
      if (!reasons.has(pattern.source)) reasons.set(pattern.source, pattern.superlinear);
      const reason = reasons.get(pattern.source);
      if (reason != null) found.push(finding(rule, link.place, 'superlinear', reason));
    }
  }
  return found;
};
