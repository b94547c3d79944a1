import { globSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { GuardConfig } from '@sallyport/contract';
import { guardConfigFile } from '@sallyport/deployment/places';
import {
  baselineRules,
  type CompileEnv,
  check,
  crsSettings,
  type Diagnostic,
  type ExplainedCheck,
  type Explanation,
  explain,
  formatDiagnostic,
  ownRules,
  type RuleSource,
} from '@sallyport/waf';
import type { Command } from 'commander';
import { CommandFailure } from '../failure.ts';
import { locate } from '../instances.ts';
import { print, visible } from '../print.ts';
import { readRawRequest } from '../read-raw-request.ts';
import { type CheckOptions, type ExplainOptions, FOUND_SOMETHING } from './waf-options.ts';

const disk: CompileEnv = {
  readFile: (path) => readFileSync(path),
  glob: (pattern) => globSync(pattern).sort(),
};

const readSource = (path: string): RuleSource => {
  try {
    return { path, text: readFileSync(path) };
  } catch (cause) {
    throw new CommandFailure(`cannot read ${path}: ${(cause as Error).message}`);
  }
};

/** Prints what is wrong with rule files, and sets the exit code. Throws a `CommandFailure` for a file that can't be read. */
export const checkFiles = (files: readonly string[], options: CheckOptions): void => {
  const report = check(files.map(readSource), disk);
  const errors = report.diagnostics.filter(({ severity }) => severity === 'error');
  if (options.json === true) print(JSON.stringify(report, null, 2));
  else {
    for (const line of linesOf(report.diagnostics)) print(line);
    for (const { file, line, column, kind, ruleId, message } of report.findings) {
      print(visible(`${file}:${line}:${column}: ${kind}: rule ${ruleId}: ${message}`));
    }
    const summary = `${report.diagnostics.length} diagnostics, ${report.findings.length} findings`;
    print(
      errors.length === 0 ? `${report.ruleCount} rules, ${summary}` : `the rules do not load: ${errors.length} errors`,
    );
  }
  if (errors.length > 0) process.exitCode = 1;
  else if (options.strict === true && report.findings.length > 0) process.exitCode = FOUND_SOMETHING;
};

/** Prints how the rules judge a request. Throws a `CommandFailure` when request or rules can't be read. */
export const explainRequest = (options: ExplainOptions, command: Command): void => {
  if (isIP(options.client) === 0) throw new CommandFailure(`--client ${options.client} is not an IP address`);
  const request = readRawRequest(readSource(options.request).text as Buffer, {
    clientAddress: options.client,
    now: Date.now(),
  });
  const sources = [
    ...(options.baseline ? [baselineRules, ownRules] : []),
    ...paranoiaSource(options.paranoia),
    ...(options.rules?.map(readSource) ?? rulesInForce(command)),
  ];
  const { explanation, diagnostics } = explain(sources, { request }, disk, { mode: 'detect' });
  if (explanation === null) throw new CommandFailure(`the rules do not load:\n${errorsOf(diagnostics).join('\n')}`);
  if (options.json === true) print(JSON.stringify(explanation, null, 2));
  else printExplanation(explanation, options);
};

/** The rules that the guards were given: settings, Core Rule Set or own rules, and exclusions that hold for all hosts. */
const rulesInForce = (command: Command): RuleSource[] => {
  const { config } = locate(command);
  const path = guardConfigFile(config.dataDir);
  const file = JSON.parse(String(readSource(path).text)) as { waf?: { rule_sources?: GuardRuleSource[] } };
  const sources = file.waf?.rule_sources ?? [];
  if (sources.length === 0) throw new CommandFailure(`${path} names no rules; name them with --rules`);
  return sources.map((source) =>
    source.kind === 'file' ? readSource(source.path) : { path: source.path, text: Buffer.from(source.text) },
  );
};

type GuardRuleSource = GuardConfig['waf']['rule_sources'][number];

/** Rules come from elsewhere, and what is wrong in them is shown as it stands there. */
const linesOf = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map((diagnostic) => visible(formatDiagnostic(diagnostic)));

const errorsOf = (diagnostics: readonly Diagnostic[]): string[] =>
  linesOf(diagnostics.filter(({ severity }) => severity === 'error'));

const paranoiaSource = (level: string | undefined): RuleSource[] => {
  if (level === undefined) return [];
  if (!/^[1-4]$/.test(level)) throw new CommandFailure(`--paranoia ${level} is not a level from 1 to 4`);
  return [crsSettings({ paranoiaLevel: Number(level) as 1 | 2 | 3 | 4, inboundThreshold: 5 })];
};

const printExplanation = ({ verdict, checks, skipped, isCut }: Explanation, options: ExplainOptions): void => {
  const logged = new Set(verdict.matches.map(({ id }) => id));
  const shown = checks.filter(({ ruleId, isMatch }) =>
    options.all === true
      ? true
      : options.rule === undefined
        ? isMatch && logged.has(ruleId)
        : ruleId === Number(options.rule),
  );
  for (const one of shown) print(checkLine(one));
  if (isCut) print('… more than are kept');
  const jumped = skipped.filter(({ ruleId }) => options.rule !== undefined && ruleId === Number(options.rule));
  for (const { ruleId, reason, by } of jumped) {
    print(
      reason === 'removed' ? `rule ${ruleId} was taken out by a ctl` : `rule ${ruleId} was jumped over by rule ${by}`,
    );
  }
  for (const match of verdict.matches) {
    print(`rule ${match.id} (phase ${match.phase}): ${match.message}${match.data === '' ? '' : ` [${match.data}]`}`);
  }
  const { inbound } = verdict.scores;
  print(
    `anomaly score ${inbound.total}, threshold ${inbound.threshold ?? 'none'}, by level ${inbound.byParanoiaLevel.join('/')}`,
  );
  print(
    verdict.wouldBe === 'pass'
      ? 'the request passes'
      : `the request would be answered: ${verdict.wouldBe}, by rule ${verdict.ruleId}`,
  );
};

const checkLine = ({
  ruleId,
  phase,
  link,
  file,
  line,
  variable,
  transformations,
  value,
  operator,
  isMatch,
}: ExplainedCheck): string => {
  const steps = transformations.length === 0 ? '' : ` after ${transformations.join(', ')}`;
  const where = link === 0 ? `${ruleId}` : `${ruleId} chain ${link}`;
  return `${isMatch ? 'match   ' : 'no match'} ${where} (phase ${phase}, ${file}:${line}) ${variable} = "${value}"${steps}: ${operator}`;
};
